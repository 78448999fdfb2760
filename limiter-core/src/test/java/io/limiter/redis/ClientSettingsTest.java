package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.kit.RedisServers;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.SslProvider;

/** What is logged of a Redisson client whose settings hurt the limiter. */
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

    @Test
    void openSslWithAnOldNettyIsReported() {
        String netty = OpenSslAdvisory.nettyVersion();
        assertTrue(netty.matches("4\\.\\d+\\.\\d+\\.Final"), netty);
        toldOf(config -> config.setSslProvider(SslProvider.JDK));
        assertEquals(List.of(), log.of(Level.WARN, "RL-149"));
        List<String> expected = OpenSslAdvisory.concerns(netty) ? List.of(OpenSslAdvisory.message(netty)) : List.of();
        toldOf(config -> config.setSslProvider(SslProvider.OPENSSL));
        assertEquals(expected, log.of(Level.WARN, "RL-149"));
    }

    @ParameterizedTest
    @CsvSource({
        "4.2.16.Final, true",
        "4.2.17.Final, false",
        "4.2.20.Final, false",
        "4.3.0.Final, false",
        "4.1.136.Final, true",
        "4.1.137.Final, false",
        "4.1.9.Final, true",
        "4.0.56.Final, true",
        "unknown, true",
        "'', true"
    })
    void affectedAreTheVersionsOfTheAdvisory(String version, boolean affected) {
        assertEquals(affected, OpenSslAdvisory.concerns(version));
        assertTrue(OpenSslAdvisory.message(version).length() < 250);
    }

    private List<String> toldOf(int pingMillis, boolean noDelay) {
        return toldOf(config -> config.useSingleServer()
                .setAddress(RedisServers.single())
                .setPingConnectionInterval(pingMillis)
                .setTcpNoDelay(noDelay));
    }

    private List<String> toldOf(Consumer<Config> settings) {
        Config config = new Config();
        config.useSingleServer().setAddress(RedisServers.single());
        settings.accept(config);
        RedissonClient client = Redisson.create(config);
        try (RedisBackend backend = RedisBackend.builder().client(client).build()) {
            assertTrue(backend.awaitConnected(LONG));
            return log.of(Level.WARN, "RL-213");
        } finally {
            client.shutdown();
        }
    }
}
