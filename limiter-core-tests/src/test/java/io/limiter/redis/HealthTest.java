package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Backend;
import io.limiter.Backend.Health.State;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.LimiterMonitor;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Facts;
import io.limiter.kit.LogLines;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is reported about Redis: before the first connection, while it answers, while it is unreachable, afterwards. */
class HealthTest {
    private static final Policy DENY = Policy.of("denying", Limit.fixedWindow(1_000_000, Duration.ofHours(1)))
            .withFailureMode(FailureMode.DENY);
    private static final Policy POLICY = Policy.of("health", Limit.fixedWindow(1_000_000, Duration.ofHours(1)));

    @Test
    void itGoesAndComesBack() throws IOException {
        try (Wire wire = Wire.to(RedisServers.singlePort());
                RedisBackend backend = Backends.connected(RedisBackend.builder().address(wire.address()));
                RateLimiter limiter = RateLimiters.builder(backend)
                        .fallback(InProcessBackend.create())
                        .build()) {
            String name = "Redis at 127.0.0.1:" + wire.port();
            LimiterMonitor monitor = limiter.monitor();
            Await.until(
                    "it answers",
                    () -> monitor.health().serversThatAre(State.ANSWERS).equals(List.of(name)));
            assertFalse(monitor.health().isAway());

            wire.cut();
            Await.until("it is unreachable", () -> {
                limiter.tryAcquire(POLICY, PartitionKey.global(), 1);
                return monitor.health().isAway();
            });
            Backend.Health away = monitor.health();
            assertEquals(Map.of(name, State.AWAY), away.servers());
            assertEquals(1, away.findings().size(), away.toString());
            Facts.told(away.findings().get(0), "RL-225", name);

            wire.repair();
            Await.until("it has recovered", () -> !monitor.health().isAway());
            Await.until("no findings", () -> monitor.health().findings().isEmpty());
        }
    }

    /** The connection's own pings and probes find out, in one line each, and once more after it has recovered. */
    @Test
    void itGoesAndComesBackWhileNobodyAsks() throws IOException {
        try (Wire wire = Wire.to(RedisServers.singlePort());
                LogLines log = new LogLines("io.limiter.redis.SelfTest", Level.INFO).about(":" + wire.port());
                RedisBackend backend = Backends.connected(RedisBackend.builder().address(wire.address()))) {
            for (int time = 1; time <= 2; time++) {
                wire.cut();
                Await.until("it is unreachable", () -> backend.health().isAway());
                wire.repair();
                Await.until("it has recovered", () -> backend.health().isDeciding());
            }
            Await.until(
                    "it is logged",
                    () -> !log.of(Level.WARN, "RL-225").isEmpty()
                            && !log.of(Level.INFO, "RL-226").isEmpty());
        }
    }

    static Decision.Source ask(RateLimiter limiter) {
        return limiter.tryAcquire(DENY, PartitionKey.global(), 1).source();
    }

    @Test
    void beforeTheFirstConnectionAndAfterTheEnd() {
        try (RedisBackend backend = RedisBackend.builder()
                .address("redis://user:secret@127.0.0.1:1")
                .build()) {
            Backend.Health health = backend.health();
            assertTrue(health.isAway());
            assertEquals(List.of("Redis at redis://***@127.0.0.1:1"), health.serversThatAre(State.AWAY));
            assertEquals(1, health.findings().size(), health.toString());
            Facts.told(health.findings().get(0), "RL-201", "redis://***@127.0.0.1:1");
            backend.close();
            assertTrue(backend.health().isAway());
        }
    }

    @Test
    void eachMasterOfAClusterIsTold() {
        try (RedisBackend backend = Backends.connected(RedisBackend.builder().cluster(RedisServers.cluster()))) {
            Await.until(
                    "each has answered",
                    () -> backend.health().serversThatAre(State.ANSWERS).size() == 3);
        }
    }

    @Test
    void aBackendInThisJvmIsAlwaysWell() {
        try (RateLimiter limiter = RateLimiters.on(InProcessBackend.create())) {
            assertEquals(Backend.Health.WELL, limiter.monitor().health());
        }
    }
}
