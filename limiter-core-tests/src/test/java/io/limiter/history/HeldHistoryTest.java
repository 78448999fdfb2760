package io.limiter.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.history.HeldHistory.Reserved;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisClientKind;
import io.limiter.kit.RedisServers;
import io.limiter.redis.RedisBackend;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three JVMs of both clients with 64 threads that reserve and settle on one Redis, one of which is killed every ten seconds: never is more used and
 * held than the limit, and what a killed one held comes back in time.
 */
class HeldHistoryTest {
    private static final long STEPS = Long.getLong("limiter.holds.steps", 1_000_000);
    private static final Duration LONGEST = Duration.ofMinutes(10);
    private static final Duration BETWEEN_KILLS = Duration.ofSeconds(10);
    private static final long AT_MOST_LATE_NANOS = 100_000_000;
    private static final int[] THREADS = {22, 21, 21};
    private static final String PREFIX =
            "held-history-" + ProcessHandle.current().pid();

    @TempDir
    Path folder;

    private final AtomicLong steps = new AtomicLong();

    private final class Jvm {
        final String name;
        final Process process;

        Jvm(int number, int generation) throws IOException {
            name = "jvm" + number + "-" + generation;
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx256m",
                            "-cp",
                            System.getProperty("java.class.path"),
                            HeldJvm.class.getName(),
                            RedisClientKind.values()[number % 2].name(),
                            RedisServers.single(),
                            PREFIX,
                            name,
                            String.valueOf(THREADS[number]),
                            folder.toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            new Thread(this::count).start();
        }

        private void count() {
            try (BufferedReader lines =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    steps.addAndGet(line.equals("steps") ? 100 : 0);
                }
            } catch (IOException ended) {
                // It was killed.
            }
        }
    }

    @Tag("holds")
    @Test
    void neverMoreThanTheLimitIsUsedAndHeld() throws Exception {
        long start = System.nanoTime();
        List<Jvm> jvms = new ArrayList<>();
        List<String> late = new ArrayList<>();
        int kills = 0;
        try (RedisBackend backend = Backends.connected(Backends.single().prefix(PREFIX))) {
            for (int i = 0; i < THREADS.length; i++) {
                jvms.add(new Jvm(i, 0));
            }
            Await.until(Duration.ofMinutes(2), "steps", () -> steps.get() > 0);
            while (steps.get() < STEPS && System.nanoTime() - start < LONGEST.toNanos()) {
                LockSupport.parkNanos(BETWEEN_KILLS.toNanos());
                int killed = kills % THREADS.length;
                Jvm jvm = jvms.get(killed);
                jvm.process.destroyForcibly().waitFor();
                long at = System.nanoTime();
                kills++;
                LockSupport.parkNanos(HeldJvm.TTL.toNanos() + AT_MOST_LATE_NANOS - (System.nanoTime() - at));
                // What has run out comes back with the calls that follow, 50 records each.
                long used = 0;
                long left = 0;
                for (int call = 0; call <= HeldJvm.OWN_LIMIT / 50; call++) {
                    Decision taken = backend.decideNow(
                            List.of(new Charge(HeldJvm.ownPolicy(), PartitionKey.of(jvm.name), 1)), Backend.Mode.TAKE);
                    used += taken.allowed() ? 1 : 0;
                    left = taken.outcomes().get(0).remaining();
                }
                if (used + left != HeldJvm.OWN_LIMIT) {
                    late.add(jvm.name + " still holds " + (HeldJvm.OWN_LIMIT - left - used));
                }
                jvms.set(killed, new Jvm(killed, kills));
            }
        } finally {
            for (Jvm jvm : jvms) {
                jvm.process.destroyForcibly().waitFor();
            }
        }
        List<Reserved> all = read();
        List<String> faults = HeldHistory.judge(all, HeldJvm.LIMIT);
        System.out.println(steps + " steps, " + all.size() + " reservations granted, " + kills + " kills, "
                + (System.nanoTime() - start) / 1_000_000_000 + " s, " + faults.size() + " violations, " + late.size()
                + " late");
        assertEquals(List.of(), faults.subList(0, Math.min(5, faults.size())));
        assertEquals(List.of(), late);
        assertTrue(steps.get() >= STEPS, "only " + steps + " steps in " + LONGEST);
    }

    private List<Reserved> read() throws IOException {
        Map<String, Reserved> all = new HashMap<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                for (String line : Files.readAllLines(file)) {
                    String[] words = line.split(" ", -1);
                    // The last line of a killed one may be cut.
                    if (words[0].equals("R") && words.length == 6) {
                        all.put(
                                words[1],
                                new Reserved(
                                        words[2],
                                        Long.parseLong(words[3]),
                                        Long.parseLong(words[4]),
                                        Long.parseLong(words[5]),
                                        HeldJvm.TTL.toNanos()));
                    } else if (words[0].equals("S") && words.length == 4) {
                        Reserved one = all.get(words[1]);
                        one.actual = Long.parseLong(words[2]);
                        one.settlingNanos = Long.parseLong(words[3]);
                    } else if (words[0].equals("E") && words.length == 5 && words[4].equals("SETTLED")) {
                        Reserved one = all.get(words[1]);
                        one.charged = Long.parseLong(words[2]);
                        one.settledNanos = Long.parseLong(words[3]);
                    }
                }
            }
        }
        return new ArrayList<>(all.values());
    }

    @Test
    void theJudgeFindsWhatIsHeldAboveTheLimit() {
        List<Reserved> right = List.of(reserved(60, 0), reserved(40, 10));
        assertEquals(List.of(), HeldHistory.judge(new ArrayList<>(right), 100));
        List<Reserved> wrong = List.of(reserved(60, 0), reserved(41, 10));
        assertEquals(1, HeldHistory.judge(new ArrayList<>(wrong), 100).size());
    }

    @Test
    void theJudgeKnowsWhatComesBackAndWhatIsCharged() {
        Reserved settled = reserved(60, 0);
        settled.settlingNanos = 3;
        settled.settledNanos = 4;
        settled.actual = 90;
        settled.charged = 90;
        assertEquals(
                1,
                HeldHistory.judge(new ArrayList<>(List.of(settled, reserved(20, 10))), 100)
                        .size());
        settled.charged = 10;
        assertEquals(List.of(), HeldHistory.judge(new ArrayList<>(List.of(settled, reserved(90, 10))), 100));
        Reserved late = reserved(90, HeldJvm.TTL.toNanos() + 10);
        assertEquals(List.of(), HeldHistory.judge(new ArrayList<>(List.of(reserved(60, 0), late)), 100));
    }

    private static Reserved reserved(long permits, long startNanos) {
        return new Reserved("k", permits, startNanos, startNanos + 1, HeldJvm.TTL.toNanos());
    }
}
