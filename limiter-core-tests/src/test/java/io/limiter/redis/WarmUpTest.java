package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Relay;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** What is done at startup so that the first callers find a warm JVM. */
class WarmUpTest extends StartingRedis {
    @Test
    void writesNothing() {
        withServer(() -> {
            RedisBackend backend = backend(port);
            try (Recorder calls = new Recorder(backend);
                    Jedis redis = RedisServers.jedis(port)) {
                assertTrue(backend.awaitConnected(LONG));
                redis.aclSetUser("default", "-@write");
                // How many there are in its time, the machine decides.
                do {
                    assertDoesNotThrow(() -> WarmUp.run(calls, LONG));
                } while (calls.byRedis.get() == 0 && calls.failures.isEmpty());
                assertEquals(List.of(), List.copyOf(calls.failures));
                assertEquals(0, redis.dbSize());
            }
        });
    }

    @Test
    void takesNoLongerThanItMay() {
        withServer(() -> {
            long pid = RedisServers.pid(port);
            try (RedisBackend backend = RedisBackend.builder()
                    .address(address(port))
                    .deadline(Duration.ofMinutes(1))
                    .build()) {
                assertTrue(backend.awaitConnected(LONG));
                RedisServers.signal("STOP", pid);
                // Each of its calls would wait for a minute.
                assertTimeoutPreemptively(LONG, () -> WarmUp.run(backend, Duration.ofMillis(100)));
                RedisServers.signal("CONT", pid);
            } finally {
                RedisServers.signal("CONT", pid);
            }
        });
    }

    /** 64 callers from the first moment of a new JVM, with the default deadline. */
    @Tag("long")
    @Test
    void aColdJvmIsDecidedByRedis() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        ColdJvm.class.getName(),
                        RedisServers.single())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, process.waitFor(), said);
        String[] counts = said.lines().reduce((one, next) -> next).orElseThrow().split(" ", -1);
        long decided = Long.parseLong(counts[0]);
        long byRedis = Long.parseLong(counts[1]);
        assertEquals("0", counts[2], "an outage: " + said);
        // How many, the machine decides: the benchmark "cold" has the share.
        assertTrue(decided > 0 && byRedis > 0, said);
    }

    /** What comes of the calls. */
    private static final class Recorder extends Relay {
        private final AtomicInteger byRedis = new AtomicInteger();
        private final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();

        Recorder(Backend backend) {
            super(backend);
        }

        @Override
        public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
            return inner().decide(charges, mode).whenComplete(this::note);
        }

        @Override
        public Decision decideNow(List<Charge> charges, Mode mode) {
            try {
                Decision decision = inner().decideNow(charges, mode);
                byRedis.incrementAndGet();
                return decision;
            } catch (RuntimeException e) {
                failures.add(e);
                throw e;
            }
        }

        private void note(Decision decision, Throwable failure) {
            if (failure != null) {
                failures.add(failure);
            } else {
                byRedis.incrementAndGet();
            }
        }
    }
}
