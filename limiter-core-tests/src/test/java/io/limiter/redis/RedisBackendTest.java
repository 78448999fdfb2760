package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

/** The Redis path on a server that answers: keys, scripts, users, clients, threads, and the end. */
class RedisBackendTest {
    private static final PartitionKey KEY = PartitionKey.of("192.168.1.19");
    private static final Policy MANY =
            Policy.of("many", Limit.fixedWindow(1_000_000, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);

    /** Else what has run out after the last call would count until the window ends, and nobody could give it back. */
    @Test
    void theRecordsOfAWindowLastAsLongAsTheWindow() {
        Policy policy =
                Policy.of("p", Limit.fixedWindow(10, Duration.ofDays(1))).withHolds(10);
        String prefix = "records-of-a-window";
        try (RateLimiter limiter = Backends.limiter(Backends.single().prefix(prefix));
                Jedis redis = RedisServers.jedis()) {
            assertTrue(limiter.reserve(policy, KEY, 10, Duration.ofSeconds(1)).allowed());
            Set<String> keys = redis.keys(prefix + ":{p:*");
            assertEquals(2, keys.size(), keys::toString);
            keys.forEach(
                    key -> assertTrue(redis.pttl(key) > Duration.ofHours(23).toMillis(), key));
        }
    }

    private interface Write {
        void on(RateLimiter limiter);
    }

    /** Each kind of write by itself: a later one would give a time to live to what an earlier one has left without. */
    @ParameterizedTest
    @EnumSource(names = "ALLOTMENT", mode = EnumSource.Mode.EXCLUDE) // until it closes
    void noWriteLeavesAKeyWithoutATimeToLive(Algorithm algorithm) {
        Duration hour = Duration.ofHours(1);
        Policy policy = algorithm == Algorithm.BLOCK
                ? Policy.of("p", Limit.fixedWindow(3, hour)).withPenalty(Limit.block(2, hour, hour, hour))
                : Policy.of("p", Limit.of(algorithm, 3, hour));
        Charge two = AnyAlgorithm.charge(policy, KEY, 2);
        Charge named = algorithm == Algorithm.SLIDING_ZSET ? new Charge(policy, KEY, 1, "id") : two;
        Deque<Decision> taken = new ArrayDeque<>();
        Map<String, Write> writes = new LinkedHashMap<>();
        writes.put("take", limiter -> taken.push(take(limiter, two)));
        writes.put("take more", limiter -> taken.push(take(limiter, AnyAlgorithm.charge(policy, KEY, 1))));
        writes.put("denied", limiter -> take(limiter, two));
        writes.put("denied again", limiter -> take(limiter, two));
        writes.put("refund", limiter -> limiter.refund(taken.pop()));
        writes.put("with an id", limiter -> taken.push(take(limiter, named)));
        writes.put("asked again", limiter -> take(limiter, named));
        writes.put("refund all", limiter -> taken.forEach(limiter::refund));
        writes.put("take after that", limiter -> take(limiter, two));
        String prefix = "alive-" + algorithm.text();
        ManualTime time = new ManualTime();
        try (RateLimiter limiter = Backends.limiter(Backends.single()
                        .prefix(prefix)
                        .denialMaxAge(Duration.ZERO)
                        .timeSource(time));
                Jedis redis = RedisServers.jedis()) {
            // As it steps on, stands, and steps back.
            for (long step : new long[] {1_000_000, 0, -1_000_000}) {
                redis.keys(prefix + ":*").forEach(redis::del);
                taken.clear();
                writes.forEach((what, write) -> {
                    write.on(limiter);
                    // What ends in the background may be gone by then.
                    redis.keys(prefix + ":*")
                            .forEach(key -> assertTrue(redis.pttl(key) != -1, what + " left " + key + " for ever"));
                    time.advanceMicros(step);
                });
                assertFalse(redis.keys(prefix + ":*").isEmpty(), "nothing was written");
            }
        }
    }

    private static Decision take(RateLimiter limiter, Charge charge) {
        Decision decision = limiter.tryAcquire(PermitRequest.of(List.of(charge)).withEnd());
        assertEquals(Decision.Source.REDIS, decision.source());
        return decision;
    }

    @Test
    void forgottenScriptsAreLoadedAgainAndNobodyNotices() {
        // Its own: calls of other tests may not be prepared for that.
        Policy policy = Policy.of(
                        "forgotten",
                        Limit.slidingZset(1_000, Duration.ofHours(1)),
                        Limit.fixedWindow(1_000, Duration.ofHours(2)))
                .withFailureMode(FailureMode.DENY);
        try (OwnRedis own = OwnRedis.start();
                RateLimiter limiter = Backends.limiter(Backends.redis().address(own.address()));
                Jedis redis = own.jedis()) {
            for (int i = 0; i < 20; i++) {
                redis.scriptFlush();
                assertTrue(limiter.tryAcquire(policy, KEY, 1).allowed());
                assertTrue(limiter.tryAcquire(MANY, KEY, 1).allowed());
                limiter.reset(MANY, KEY);
            }
            assertEquals(980, Looks.left(limiter, policy, KEY));
        }
    }

    @Test
    void theDatabaseIsTheOneThatTheAddressNames() {
        try (RateLimiter limiter =
                        Backends.limiter(Backends.redis().prefix("in-two").address(RedisServers.single() + "/2"));
                Jedis redis = RedisServers.jedis()) {
            assertTrue(limiter.tryAcquire(
                            Policy.of("p", Limit.fixedWindow(1, Duration.ofMinutes(1))), PartitionKey.of("k"), 1)
                    .allowed());
            assertTrue(redis.keys("in-two:*").isEmpty());
            redis.select(2);
            assertEquals(1, redis.keys("in-two:{p:k}*").size());
        }
    }

    @Test
    void whereThereIsNoDatabaseToChooseItIsRefused() {
        List<String> addresses = List.of("redis://user:secret@a:1/2");
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> RedisBackend.builder().cluster(addresses));
        assertTrue(String.valueOf(refused.getMessage()).contains("***@a:1/2"), refused.getMessage());
        assertThrows(
                IllegalArgumentException.class, () -> RedisBackend.builder().sentinel("m", addresses));
    }

    @Test
    void oneOfSeveralAddressesIsEnough() {
        String nobody = "redis://127.0.0.1:1";
        List<String> nodes = List.of(nobody, RedisServers.cluster().get(0));
        List<String> sentinels = List.of(nobody, RedisServers.sentinel());
        Backends.connected(RedisBackend.builder().cluster(nodes)).close();
        Backends.connected(RedisBackend.builder().sentinel(RedisServers.MASTER, sentinels))
                .close();
    }
}
