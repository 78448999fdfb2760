package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.LimiterMonitor.HoldCount;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.params.ClientKillParams;
import redis.clients.jedis.params.ClientKillParams.SkipMe;
import redis.embedded.RedisServer;

/** Settlements while Redis refuses the user of the limiter: they are tried again, as while it is stopped. */
class RefusedSettlementTest {
    private static final Duration LONG = Duration.ofSeconds(30);
    private static final PartitionKey KEY = PartitionKey.of("k");
    private static final Policy POLICY =
            Policy.of("p", Limit.fixedWindow(100, Duration.ofDays(1))).withHolds(10);

    /** Its rights are taken, or it needs a login from now on. */
    @ParameterizedTest
    @ValueSource(strings = {"-evalsha", "-@write", "resetpass >secret"})
    void itIsTriedAgain(String harm) {
        int port = RedisServers.freePort();
        RedisServer server = RedisServers.start(port);
        try (Jedis operator = new Jedis("127.0.0.1", port)) {
            try (RedisBackend backend = RedisBackend.builder()
                            .address("redis://127.0.0.1:" + port)
                            .deadline(LONG)
                            .lookAgain(Duration.ofMillis(100))
                            .build();
                    RateLimiter limiter = RateLimiters.on(backend)) {
                assertTrue(backend.awaitConnected(LONG));
                Hold hold = limiter.reserve(POLICY, KEY, 10, Duration.ofHours(1));
                assertTrue(hold.allowed());
                operator.aclSetUser("default", harm.split(" "));
                operator.clientKill(new ClientKillParams().skipMe(SkipMe.YES));
                assertEquals(Settlement.PENDING, limiter.settle(hold, 4));
                operator.aclSetUser("default", "nopass", "+@all");
                Await.until(
                        "it is settled",
                        () -> limiter.tryAcquire(POLICY, KEY, 0).remaining() == 96);
                assertEquals(0, limiter.monitor().holds("p", HoldCount.LOST));
            }
        } finally {
            RedisServers.stop(server);
        }
    }
}
