package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

/** Calls to a server that is paused, or not there yet. */
class PausedRedisTest {
    private static final PartitionKey KEY = PartitionKey.of("192.168.1.19");
    private static final Policy MANY =
            Policy.of("many", Limit.fixedWindow(1_000_000, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);

    @Test
    void aPausedServerCountsNoCallTwice() throws Exception {
        int port = RedisServers.freePort();
        RedisServer server = RedisServers.start(port);
        int calls = 200;
        try (RateLimiter limiter = RateLimiters.on(Backends.connected(
                RedisBackend.builder().address("redis://127.0.0.1:" + port).deadline(Duration.ofMillis(250))))) {
            long pid = RedisServers.pid(port);
            RedisServers.signal("STOP", pid);
            List<CompletableFuture<Decision>> answers = new ArrayList<>();
            for (int i = 0; i < calls; i++) {
                answers.add(limiter.acquireAsync(PermitRequest.of(MANY, KEY, 1)).toCompletableFuture());
            }
            for (CompletableFuture<Decision> answer : answers) {
                assertEquals(
                        Decision.Source.FAILED_CLOSED,
                        answer.get(60, TimeUnit.SECONDS).source());
            }
            RedisServers.signal("CONT", pid);
            Await.until(
                    Duration.ofSeconds(30),
                    "Redis decides again",
                    () -> limiter.tryAcquire(MANY, PartitionKey.of("other"), 1).source() == Decision.Source.REDIS);
            Decision state = limiter.tryAcquire(PermitRequest.of(MANY, KEY, 0).withLook());
            assertEquals(Decision.Source.REDIS, state.source());
            long counted = 1_000_000 - state.remaining();
            assertTrue(counted <= calls, counted + " counted of " + calls + " calls sent");
        } finally {
            RedisServers.stop(server);
        }
    }

    @Test
    void theShortestDeadlineOfThePoliciesCounts() throws Exception {
        int port = RedisServers.freePort();
        RedisServer server = RedisServers.start(port);
        long pid = RedisServers.pid(port);
        try (RedisBackend backend = Backends.connected(
                RedisBackend.builder().address("redis://127.0.0.1:" + port).deadline(Duration.ofMinutes(1)))) {
            RedisServers.signal("STOP", pid);
            Policy quick = Policy.of("quick", Limit.fixedWindow(9, Duration.ofHours(1)))
                    .withDeadline(Duration.ofMillis(10));
            for (List<Charge> charges : List.of(
                    List.of(new Charge(quick, KEY, 1)), List.of(new Charge(MANY, KEY, 1), new Charge(quick, KEY, 1)))) {
                ExecutionException failure = assertThrows(
                        ExecutionException.class,
                        () -> backend.decide(charges, Backend.Mode.TAKE)
                                .toCompletableFuture()
                                .get(90, TimeUnit.SECONDS));
                String message = String.valueOf(failure.getMessage());
                // On a busy machine this JVM may be late itself.
                assertTrue(message.contains("within 10 ms") || message.contains("RL-237"), message);
            }
        } finally {
            RedisServers.signal("CONT", pid);
            RedisServers.stop(server);
        }
    }

    @Test
    void itStartsWithoutRedisAndHealsWhenRedisComes() {
        int port = RedisServers.freePort();
        RedisBackend backend = RedisBackend.builder()
                .address("redis://127.0.0.1:" + port)
                .deadline(Duration.ofSeconds(30))
                .build();
        Policy vote = Policy.of("vote", Limit.slidingList(4, Duration.ofHours(1)));
        try (RateLimiter limiter = RateLimiters.builder(backend)
                .fallback(InProcessBackend.create())
                .instances(2)
                .build()) {
            assertFalse(backend.awaitConnected(Duration.ofMillis(100)));
            assertEquals(
                    Decision.Source.FAILED_CLOSED,
                    limiter.tryAcquire(MANY, KEY, 1).source());
            assertEquals(
                    Decision.Source.FAILED_OPEN,
                    limiter.tryAcquire(MANY.withFailureMode(FailureMode.ALLOW), KEY, 1)
                            .source());
            int passed = 0;
            for (int i = 0; i < 10; i++) {
                Decision decision = limiter.tryAcquire(vote, KEY, 1);
                assertEquals(Decision.Source.LOCAL_FALLBACK, decision.source());
                passed += decision.allowed() ? 1 : 0;
            }
            assertEquals(2, passed, "half of the limit, because two instances share it");
            RedisServer server = RedisServers.start(port);
            try {
                assertTrue(backend.awaitConnected(Duration.ofSeconds(60)));
                assertEquals(
                        Decision.Source.REDIS, limiter.tryAcquire(vote, KEY, 1).source());
            } finally {
                RedisServers.stop(server);
            }
        }
    }
}
