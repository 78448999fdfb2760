package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.OwnRedis;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.params.SetParams;

/** What each memory policy does to limits beside a cache that fills the memory. */
@Tag("long")
class MemoryPoliciesTest {
    private static final int CLIENTS = 1_000;
    private static final int ROUNDS = 100;
    private static final int ENTRIES = 1_000;
    private static final int LIMIT = 3;
    /** Longer than a test takes on any machine, and shorter than the day of an entry of the cache. */
    private static final Duration PERIOD = Duration.ofHours(1);

    private static final Policy POLICY = Policy.of(
                    "both", Limit.fixedWindow(LIMIT, PERIOD), Limit.fixedWindow(100, Duration.ofDays(1)))
            .withFailureMode(FailureMode.DENY);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "noeviction",
                "volatile-ttl",
                "volatile-lru",
                "volatile-lfu",
                "volatile-random",
                "allkeys-lru",
                "allkeys-lfu",
                "allkeys-random"
            })
    void besideACacheOfADay(String memoryPolicy) {
        try (OwnRedis own = OwnRedis.start("maxmemory 20mb", "maxmemory-policy " + memoryPolicy);
                RedisBackend backend = Backends.connected(
                        Backends.redis().address(own.address()).denialMaxAge(Duration.ZERO));
                RateLimiter limiter = RateLimiters.on(backend);
                Jedis cache = own.jedis()) {
            boolean isTold = backend.health().findings().stream().anyMatch(line -> line.startsWith("RL-205"));
            assertEquals(!memoryPolicy.equals("noeviction"), isTold);
            long begun = System.nanoTime();
            long admitted = 0;
            String value = "x".repeat(300);
            for (int round = 0; round < ROUNDS; round++) {
                Pipeline entries = cache.pipelined();
                for (int i = 0; i < ENTRIES; i++) {
                    entries.set(
                            "cache:" + round + ":" + i,
                            value,
                            SetParams.setParams().ex(Duration.ofDays(1).toSeconds()));
                }
                entries.sync();
                // Each client comes in every tenth round.
                for (int i = round % 10; i < CLIENTS; i += 10) {
                    admitted += limiter.tryAcquire(POLICY, PartitionKey.of("client" + i), 1)
                                    .allowed()
                            ? 1
                            : 0;
                }
            }
            long tookNanos = System.nanoTime() - begun;
            long most = CLIENTS * LIMIT;
            System.out.printf(
                    "%-16s %6d admitted, %d promised, in %d ms%n", memoryPolicy, admitted, most, tookNanos / 1_000_000);
            if (memoryPolicy.equals("noeviction")) {
                assertTrue(admitted <= most, admitted + " of " + most);
            } else if (memoryPolicy.equals("volatile-ttl")) {
                assertTrue(admitted > most, admitted + " of " + most);
            }
        }
    }
}
