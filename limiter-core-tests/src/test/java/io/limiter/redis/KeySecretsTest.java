package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.KeyHash;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Configs;
import io.limiter.kit.LogLines;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

/** Instances that hash the secrets in keys in different ways find each other on a real Redis. */
class KeySecretsTest {
    private static final String SECRET = "0123456789abcdef";

    private final String prefix = "secrets-" + UUID.randomUUID();

    private RedisBackend instance(boolean cluster, KeyHash hash) {
        RedisBackend.Builder builder = RedisBackend.builder().prefix(prefix).keyHash(hash);
        return Backends.connected(
                cluster ? builder.cluster(RedisServers.cluster()) : builder.address(RedisServers.single()));
    }

    /** One that soon looks again, so it may also log what it finds of those that come after it. */
    private RedisBackend instanceThatLooksAgain() {
        return Backends.connected(RedisBackend.builder()
                .prefix(prefix)
                .keyHash(KeyHash.keyed(SECRET))
                .lookAgain(Duration.ofMillis(100))
                .address(RedisServers.single()));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSecondSecretIsFoundAndEqualOnesAreNot(boolean cluster) {
        try (RedisBackend one = instance(cluster, KeyHash.keyed(SECRET));
                RedisBackend same = instance(cluster, KeyHash.keyed(SECRET))) {
            assertEquals(List.of(), one.health().findings());
            assertEquals(List.of(), same.health().findings());
            try (LogLines log = new LogLines("io.limiter.redis.SelfTest", Level.INFO).about("RL-235");
                    RedisBackend without = instance(cluster, KeyHash.PLAIN)) {
                // A master of the cluster may have missed the test of the beginning, and the others may look again
                // meanwhile.
                Await.until("it is found", () -> without.health().findings().size() == 1);
                assertTrue(without.health().findings().get(0).startsWith("RL-235 Redis at "));
                assertFalse(log.of(Level.WARN, "RL-235").isEmpty());
                assertTrue(!log.toString().contains(SECRET));
            }
        }
    }

    @Test
    void aSecretThatNobodyHasAnyMoreIsForgotten() throws Exception {
        String key = new RedisKeys(prefix, null).secrets();
        try (Jedis redis = RedisServers.jedis()) {
            redis.zadd(key, System.currentTimeMillis() - 180_000 - 1_000, "long ago");
            try (RedisBackend one = instanceThatLooksAgain()) {
                assertEquals(List.of(), one.health().findings());
                assertEquals(List.of(KeyHash.keyed(SECRET).check()), List.copyOf(redis.zrange(key, 0, -1)));
                assertTrue(redis.pttl(key) > 0);

                // Redis has it from another one now; the next look finds it, and then that it has gone.
                redis.zadd(key, System.currentTimeMillis(), "other");
                try (RedisBackend two = instanceThatLooksAgain()) {
                    assertEquals(1, two.health().findings().size());
                    redis.zrem(key, "other");
                    Await.until("it has gone", () -> two.health().findings().isEmpty());
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"bearer", "session", "header:X-Api-Key", "cookie:c", "query:q"})
    void keysThatCanBeGuessedAreReportedAtTheStart(String kind) {
        assertEquals(1, guessable(kind, null));
        assertEquals(0, guessable(kind, SECRET));
    }

    @Test
    void keysThatAreNoSecretsAreNotReported() {
        assertEquals(0, guessable("ip", null));
    }

    private int guessable(String key, String secret) {
        LimiterConfig config = Configs.of("limiter.redis.address = " + RedisServers.single()
                + "\nlimiter.redis.startup-wait = 60s\nlimiter.redis.prefix = " + prefix + secret
                + "\nlimiter.rules.r.path = /*\nlimiter.rules.r.limits = 1/1h\nlimiter.rules.r.key = " + key
                + (secret == null ? "" : "\nlimiter.redis.key-secret = " + secret));
        try (LogLines log = new LogLines("io.limiter.application.BackendStart", Level.INFO).ofThreads();
                Limiter limiter = Limiter.start(config)) {
            limiter.replace(config);
            // Once at startup; the later configuration changes no rule.
            return log.of(Level.WARN, "RL-145 rules [r]").size();
        }
    }
}
