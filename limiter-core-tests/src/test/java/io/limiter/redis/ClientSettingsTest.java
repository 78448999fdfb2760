package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.kit.RedisServers;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** What is logged of a Redisson client whose settings hurt the limiter. */
@Isolated("what is logged of a client does not name it")
class ClientSettingsTest extends StartingRedis {
    @Test
    void theDefaultsNoticeADeadConnectionLate() {
        List<String> told = toldOf(30_000, true);
        assertEquals(1, told.size(), told.toString());
        assertTrue(told.get(0).contains("pingConnectionInterval = 30000"), told.toString());
    }

    @Test
    void callsThatTheNetworkHoldsBackAreSlow() {
        List<String> told = toldOf(1_000, false);
        assertEquals(1, told.size(), told.toString());
        assertTrue(told.get(0).contains("tcpNoDelay") && !told.get(0).contains("ping"), told.toString());
    }

    @Test
    void aClientSetUpForItIsNotMentioned() {
        assertEquals(List.of(), toldOf(1_000, true));
        try (RedisBackend own =
                RedisBackend.builder().address(RedisServers.single()).build()) {
            assertTrue(own.awaitConnected(LONG));
        }
        assertEquals(List.of(), log.of(Level.WARN, "RL-213"));
    }

    @BeforeEach
    void listenToTheWatch() {
        log.ofThreads("limiter-redis-watch");
    }

    private List<String> toldOf(int pingMillis, boolean noDelay) {
        Config config = new Config();
        config.useSingleServer()
                .setAddress(RedisServers.single())
                .setPingConnectionInterval(pingMillis)
                .setTcpNoDelay(noDelay);
        RedissonClient client = Redisson.create(config);
        try (RedisBackend backend = RedisBackend.builder().client(client).build()) {
            assertTrue(backend.awaitConnected(LONG));
            return log.of(Level.WARN, "RL-213");
        } finally {
            client.shutdown();
        }
    }
}
