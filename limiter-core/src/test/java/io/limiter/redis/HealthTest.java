package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendHealth;
import io.limiter.BackendHealth.State;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What an operator is told of Redis: before the first connection, while it answers, while it is away, afterwards. */
class HealthTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final Policy POLICY = Policy.of("health", Limit.fixedWindow(1_000_000, Duration.ofHours(1)));

    @Test
    void itGoesAndComesBack() throws IOException {
        try (Wire wire = Wire.to(RedisServers.singlePort());
                RedisBackend backend = RedisBackend.builder()
                        .address("redis://127.0.0.1:" + wire.port())
                        .build();
                RateLimiter limiter = RateLimiter.builder(backend)
                        .fallback(InProcessBackend.create())
                        .build()) {
            String name = "Redis at 127.0.0.1:" + wire.port();
            assertTrue(backend.awaitConnected(LONG));
            Await.until(
                    LONG,
                    "it answers",
                    () -> limiter.health().serversThatAre(State.ANSWERS).equals(List.of(name)));
            assertFalse(limiter.health().isAway());

            wire.cut();
            Await.until(LONG, "it is away", () -> {
                limiter.tryAcquire(POLICY, PartitionKey.global(), 1);
                return limiter.health().isAway();
            });
            BackendHealth away = limiter.health();
            assertEquals(Map.of(name, State.AWAY), away.servers());
            assertEquals(
                    List.of("RL-225 " + name + " does not answer, so it is not asked until a probe gets through"),
                    away.findings());

            wire.mend();
            Await.until(LONG, "it is back", () -> !limiter.health().isAway());
            Await.until(
                    LONG,
                    "nothing is to be said",
                    () -> limiter.health().findings().isEmpty());
        }
    }

    @Test
    void beforeTheFirstConnectionAndAfterTheEnd() {
        try (RedisBackend backend = RedisBackend.builder()
                .address("redis://user:secret@127.0.0.1:1")
                .build()) {
            BackendHealth health = backend.health();
            assertTrue(health.isAway());
            assertEquals(List.of("Redis at redis://***@127.0.0.1:1"), health.serversThatAre(State.AWAY));
            assertEquals(
                    List.of("RL-201 there is no connection to Redis at redis://***@127.0.0.1:1 yet"),
                    health.findings());
            backend.close();
            assertTrue(backend.health().isAway());
        }
    }

    @Test
    void eachMasterOfAClusterIsTold() {
        try (RedisBackend backend =
                RedisBackend.builder().cluster(RedisServers.cluster()).build()) {
            assertTrue(backend.awaitConnected(LONG));
            assertEquals(
                    3,
                    backend.health().serversThatAre(State.ANSWERS).size(),
                    () -> backend.health().toString());
        }
    }

    @Test
    void aBackendInThisJvmIsAlwaysWell() {
        try (RateLimiter limiter = RateLimiter.on(InProcessBackend.create())) {
            assertEquals(BackendHealth.WELL, limiter.health());
        }
    }
}
