package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.Algorithm;
import io.limiter.kit.Await;
import io.limiter.kit.LogLines;
import io.limiter.kit.OwnRedis;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.clients.jedis.Jedis;

class SelfTestTest {
    private static final Clock NOON = Clock.fixed(Instant.parse("2026-11-21T12:00:00Z"), ZoneOffset.UTC);
    private static final String WELL =
            "# Server\r\nredis_version:7.2.4\r\nrole:master\r\nmaxmemory:0\r\ncluster_enabled:0\r\n";

    @ParameterizedTest
    @CsvSource({
        "redis_version:7.2.4, redis_version:6.0.20, RL-206",
        "redis_version:7.2.4, redis_version:5.0.14, RL-206",
        "redis_version:7.2.4, redis_version:6.2.0, ",
        "redis_version:7.2.4, 'redis_version:7.2.4\r\narch_bits:64', ",
        "redis_version:7.2.4, 'redis_version:7.2.4\r\narch_bits:32', RL-206",
        "redis_version:7.2.4, redis_version:255.255.255, ",
        "redis_version:7.2.4, server_name:another, ",
        "role:master, role:slave, RL-203",
        "cluster_enabled:0, cluster_enabled:1, RL-207",
        "maxmemory:0, 'maxmemory:1000\r\nmaxmemory_policy:allkeys-lfu', RL-205",
        "maxmemory:0, 'maxmemory:1000\r\nmaxmemory_policy:volatile-ttl', RL-205",
        "maxmemory:0, 'maxmemory:1000\r\nmaxmemory_policy:allkeys-lru', RL-205",
        "maxmemory:0, 'maxmemory:1000\r\nmaxmemory_policy:noeviction', ",
        "maxmemory:0, 'maxmemory:0\r\nmaxmemory_policy:allkeys-lru', "
    })
    void whatInfoSays(String line, String instead, String code) {
        assertEquals(code == null ? List.of() : List.of(code), codes(0, WELL.replace(line, instead)));
    }

    @Test
    void clocksApart() {
        assertEquals(List.of(), codes(999_000, WELL));
        assertEquals(List.of("RL-208"), codes(1_001_000, WELL));
        assertEquals(List.of("RL-208"), codes(-1_001_000, WELL));
        Map<String, String> findings = findings(-90_000_000, WELL);
        assertTrue(String.valueOf(findings.get("RL-208")).contains("90000 ms behind"), findings.toString());
    }

    @Test
    void whoMayNotAskForInfo() {
        assertEquals(List.of("RL-210"), codes(0, ""));
    }

    @Test
    void afterARestartTheScriptsAreThereBeforeTheFirstCaller() {
        try (OwnRedis first = OwnRedis.start();
                LogLines log = new LogLines().about(":" + first.port);
                RedisBackend backend = RedisBackend.builder()
                        .address(first.address())
                        .deadline(Duration.ofMillis(500))
                        .build()) {
            assertTrue(backend.awaitConnected(Duration.ofSeconds(30)));
            first.kill();
            var limit = Limit.fixedWindow(9, Duration.ofHours(1));
            var charge = new Charge(Policy.of("p", limit), PartitionKey.of("a"), 1);
            Await.until("it is known to be unreachable", () -> {
                backend.decide(List.of(charge), Backend.Mode.TAKE)
                        .exceptionally(failure -> null)
                        .toCompletableFuture()
                        .join();
                return !log.of(Level.WARN, "RL-225").isEmpty();
            });
            try (OwnRedis second = OwnRedis.at(first.port);
                    Jedis redis = second.jedis()) {
                Await.until(
                        Duration.ofSeconds(30),
                        "all scripts are loaded without anybody asking",
                        () -> Script.all().stream()
                                // No caller waits for that one, and no call asks a block alone.
                                .filter(script ->
                                        script != Script.KEY_SECRETS && script != Script.alone(Algorithm.BLOCK))
                                .allMatch(script -> redis.scriptExists(script.sha())));
            }
        }
    }

    private static List<String> codes(long driftMicros, String info) {
        return List.copyOf(findings(driftMicros, info).keySet());
    }

    private static Map<String, String> findings(long driftMicros, String info) {
        long micros = NOON.millis() * 1_000 + driftMicros;
        return SelfTest.findings(List.of(micros / 1_000_000, micros % 1_000_000, info), NOON, false);
    }
}
