package io.limiter.example.fair.worker;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.tasks.TaskWorker;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("long")
class WorkerProcessTest {
    private static final String[] ARGUMENTS = {RedisServers.single(), "1000", "1", "1"};

    private static boolean isAlive(long pid) {
        return ProcessHandle.of(pid).map(ProcessHandle::isAlive).orElse(false);
    }

    @Test
    void itEndsWithItsParentAlsoByKill() throws Exception {
        Process parent = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Parent.class.getName(),
                        ARGUMENTS[0],
                        ARGUMENTS[1],
                        ARGUMENTS[2],
                        ARGUMENTS[3])
                .redirectError(Redirect.INHERIT)
                .start();
        long worker = Long.parseLong(parent.inputReader().readLine());
        assertTrue(isAlive(worker));

        parent.destroyForcibly();

        Await.until(TestRedis.LONG, "the worker has ended", () -> !isAlive(worker));
    }

    @Test
    void asManyRunAsThereArePlaces() {
        try (Workers workers = new Workers(1, place -> WorkerProcess.start(TaskWorker.class, ARGUMENTS))) {
            long first = workers.start();
            IllegalArgumentException full = assertThrows(IllegalArgumentException.class, workers::start);
            assertTrue(full.getMessage().contains("1 workers run already"), full.getMessage());

            assertTrue(workers.kill().contains(Long.toString(first)));
            assertTrue(!isAlive(first) && workers.start() != first, "its place is free");
        }
    }
}
