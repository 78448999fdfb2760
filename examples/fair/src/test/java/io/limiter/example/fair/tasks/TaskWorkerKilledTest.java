package io.limiter.example.fair.tasks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.worker.TestRedis;
import io.limiter.example.fair.worker.WorkerProcess;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/** Workers are processes, and are killed at work. */
@Tag("long")
class TaskWorkerKilledTest {
    private static final int TASKS = Repeats.of(300, 3_000);
    private static final String BATCH = "50";

    private final RedissonClient redisson = TestRedis.without("tasks");

    @AfterEach
    void end() {
        redisson.shutdown();
    }

    private static WorkerProcess worker() {
        return WorkerProcess.start(TaskWorker.class, RedisServers.single(), "1000", "2", BATCH);
    }

    private Collection<String> effects() {
        return redisson.<String, String>getMap(DelayedTasks.EFFECTS, StringCodec.INSTANCE)
                .readAllValues();
    }

    @Test
    void eachTaskTakesEffectOnceThoughTheWorkerIsKilledAtWork() {
        Map<String, String> payloads = new LinkedHashMap<>();
        for (int i = 0; i < TASKS; i++) {
            payloads.put("letter-" + i, "");
        }
        DelayedTasks tasks = new DelayedTasks(redisson, Duration.ofSeconds(1));
        tasks.schedule(payloads, Duration.ZERO);

        WorkerProcess first = worker();
        Await.until(TestRedis.LONG, "the worker is at work", () -> !effects().isEmpty());
        Await.until(
                TestRedis.LONG,
                "it holds tasks",
                () -> redisson.getScoredSortedSet(DelayedTasks.LEASED).size() > 0);
        first.kill();
        int held = redisson.getScoredSortedSet(DelayedTasks.LEASED).size();
        assertTrue(effects().size() < TASKS, "it was killed in the middle");

        long killed = System.nanoTime();
        Await.until(TestRedis.LONG, "another worker, here, has done the rest", () -> {
            TaskWorker.drain(tasks, 50, task -> {});
            return effects().size() == TASKS;
        });
        TestRedis.figure("take-over of a killed worker's tasks, lease 1000 ms", killed);

        assertEquals(Set.of("1"), new HashSet<>(effects()), "each once");
        long claims = redisson.getAtomicLong(DelayedTasks.CLAIMS).get();
        assertTrue(claims >= TASKS + held, held + " tasks of the killed worker were claimed again: " + claims);
        assertEquals(0, redisson.getScoredSortedSet(DelayedTasks.LEASED).size());
    }
}
