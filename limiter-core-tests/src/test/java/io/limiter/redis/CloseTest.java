package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.OwnRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import redis.clients.jedis.Jedis;

/** Closing while calls are in flight, and what is left afterwards. */
@Isolated("counts threads of the JVM")
class CloseTest {
    private static final Policy MANY =
            Policy.of("many", Limit.fixedWindow(1_000_000, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);
    private static final int CALLS = 1_000;

    @Test
    void whatIsInFlightIsLetFinish() throws Exception {
        RateLimiter limiter = Backends.limiter(Backends.single());
        List<CompletableFuture<Decision>> answers = asked(limiter);
        limiter.close();
        int decided = 0;
        for (CompletableFuture<Decision> answer : answers) {
            decided += answer.get(30, TimeUnit.SECONDS).source() == Decision.Source.REDIS ? 1 : 0;
        }
        assertEquals(CALLS, decided, "Redis answers, so nothing is lost by waiting for it");
    }

    @Test
    void onAFrozenServerEachCallIsAnsweredByItsDeadline() throws Exception {
        try (OwnRedis own = OwnRedis.start()) {
            RateLimiter limiter = Backends.limiter(
                    RedisBackend.builder().address(own.address()).deadline(Duration.ofMillis(300)));
            own.pause();
            List<CompletableFuture<Decision>> answers = asked(limiter);
            limiter.close();
            for (CompletableFuture<Decision> answer : answers) {
                // A thread that has just ended a call may still be handing over its answer. Nothing else would end one
                // that is left.
                assertEquals(
                        Decision.Source.FAILED_CLOSED,
                        answer.get(30, TimeUnit.SECONDS).source());
            }
        }
    }

    @Test
    void twentyTimesOpenedAndClosedNoThreadAndNoConnectionIsLeft() {
        try (OwnRedis own = OwnRedis.start();
                Jedis redis = own.jedis()) {
            int threads = Thread.activeCount();
            Set<Thread> before = Thread.getAllStackTraces().keySet();
            for (int i = 0; i < 20; i++) {
                try (RateLimiter limiter = Backends.limiter(Backends.redis().address(own.address()))) {
                    assertFalse(asked(limiter).isEmpty());
                    assertTrue(newThreads(before).size() <= 10, "threads: " + newThreads(before));
                }
                // Closing waits for them for 2 s.
                Await.until(
                        "our own threads have ended",
                        () -> newThreads(before).stream()
                                .noneMatch(thread -> thread.getName().startsWith("limiter-redis")));
            }
            Await.until(
                    "all connections but this test's are closed",
                    () -> redis.info("clients").contains("connected_clients:1\r"));
            Await.until("all threads have ended", () -> newThreads(before).isEmpty());
            Await.until(
                    Duration.ofSeconds(30),
                    "no threads are left",
                    // A leak would leave twenty. Threads of the whole JVM, of Netty and of the common pool, come and
                    // go.
                    () -> Thread.activeCount() < threads + 10);
        }
    }

    private static Set<Thread> newThreads(Set<Thread> before) {
        Set<Thread> now = new HashSet<>(Thread.getAllStackTraces().keySet());
        now.removeAll(before);
        now.removeIf(thread ->
                !thread.getName().startsWith("limiter-") && !thread.getName().startsWith("redisson"));
        return now;
    }

    private static List<CompletableFuture<Decision>> asked(RateLimiter limiter) {
        List<CompletableFuture<Decision>> answers = new ArrayList<>();
        for (int i = 0; i < CALLS; i++) {
            answers.add(limiter.acquireAsync(PermitRequest.of(MANY, PartitionKey.of("client " + i % 7), 1)));
        }
        return answers;
    }
}
