package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The addresses of a cluster and of sentinels, of which not each has to answer. */
class SeveralAddressesTest {
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
