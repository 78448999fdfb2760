package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** Which database of a Redis has the states, and addresses of which not each has to answer. */
class DatabaseTest {
    @Test
    void theOneThatTheAddressNames() {
        try (RedisBackend backend =
                        Backends.connected(Backends.redis().prefix("in-two").address(RedisServers.single() + "/2"));
                RateLimiter limiter = RateLimiters.on(backend);
                Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            assertTrue(limiter.tryAcquire(
                            Policy.of("p", Limit.fixedWindow(1, Duration.ofMinutes(1))), PartitionKey.of("k"), 1)
                    .allowed());
            assertTrue(redis.keys("in-two:*").isEmpty());
            redis.select(2);
            assertEquals(1, redis.keys("in-two:{p:k}*").size());
        }
    }

    @Test
    void whereThereIsNoneToChooseItIsRefused() {
        List<String> addresses = List.of("redis://user:secret@a:1/2");
        IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> RedisBackend.builder().cluster(addresses));
        assertTrue(String.valueOf(refused.getMessage()).contains("***@a:1/2"), refused.getMessage());
        assertThrows(
                IllegalArgumentException.class, () -> RedisBackend.builder().sentinel("m", addresses));
    }

    private static final Duration LONG = Duration.ofSeconds(60);

    @Test
    void oneOfSeveralAddressesIsEnough() {
        String nobody = "redis://127.0.0.1:1";
        try (RedisBackend cluster = RedisBackend.builder()
                        .cluster(List.of(nobody, RedisServers.cluster().get(0)))
                        .build();
                RedisBackend master = RedisBackend.builder()
                        .sentinel(RedisServers.MASTER, List.of(nobody, RedisServers.sentinel()))
                        .build()) {
            assertTrue(cluster.awaitConnected(LONG));
            assertTrue(master.awaitConnected(LONG));
        }
    }
}
