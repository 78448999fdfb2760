package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.kit.LogLines;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Environment variables that look like settings but match none: logged, not a mistake. */
class UnreadVariablesTest {
    private static final String START =
            "RL-137 environment variables look like settings of the limiter but match none, and are ignored: ";

    private final LogLines log = new LogLines();

    @AfterEach
    void stopListening() {
        log.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LIMITER_REDIS_ADRESS",
                "LIMITER_POLICIES_VOTE_LIMIT",
                "LIMITER_CLIENTIP_TRUSTEDHOP",
                "LIMITER_HTTP_HEADER",
                "LIMITER_POLICIES_SOMETHING_NEW_ONFAILURE",
                "LIMITER_RULES_SOMETHING_NEW_LIMITS"
            })
    void itIsNamedAndNoValueIsShown(String variable) throws IOException {
        LimiterConfig config = with(Map.of(variable, "s3cret"));
        assertEquals(List.of("vote"), List.copyOf(config.policies().keySet()));
        assertEquals(List.of(START + variable), log.of(Level.WARN, "RL-137"));
        assertFalse(log.toString().contains("s3cret"), log.toString());
    }

    @Test
    void oneLineForAll() throws IOException {
        Map<String, String> many = new TreeMap<>();
        for (int i = 10; i < 30; i++) {
            many.put("LIMITER_HTTP_SOMETHING_ELSE" + i, "x");
        }
        with(many);
        List<String> told = log.of(Level.WARN, "RL-137");
        assertEquals(1, told.size(), log.toString());
        assertTrue(told.get(0).endsWith("ELSE28, LIMITER_HTTP_SOMETHING_ELSE29"), told.get(0));
    }

    @Test
    void toldAlsoWhereTheConfigurationHasMistakes() {
        assertThrows(
                ConfigException.class,
                () -> with(Map.of("LIMITER_BACKEND", "redis", "LIMITER_REDIS_ADRESS", "redis://a:1")));
        assertEquals(1, log.of(Level.WARN, "RL-137").size(), log.toString());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "LIMITER_PORT",
                "LIMITER_HOME",
                "LIMITER_REDIS_SERVICE_HOST",
                "LIMITER_REDIS_SERVICE_PORT",
                "LIMITER_REDIS_SERVICE_PORT_TCP_REDIS",
                "LIMITER_REDIS_PORT",
                "LIMITER_REDIS_PORT_6379_TCP",
                "LIMITER_REDIS_PORT_6379_TCP_ADDR",
                "LIMITER_REDIS_PORT_6379_TCP_PORT",
                "LIMITER_REDIS_PORT_6379_TCP_PROTO",
                "LIMITER_REDIS_MASTER_SERVICE_HOST",
                "LIMITER_REDIS_OWN",
                "LIMITER_REDIS_PREFIX",
                "LIMITER_POLICIES_VOTE_LIMITS_0"
            })
    void whatIsMeantForSomebodyElseIsNotTold(String variable) throws IOException {
        with(Map.of(variable, "x", "LIMITER_POLICIES_VOTE_LIMITS", "1/s"));
        assertEquals(List.of(), log.of(Level.WARN, "RL-137"));
    }

    private static LimiterConfig with(Map<String, String> environment) throws IOException {
        return LimiterConfig.builder()
                .foreignKeys(List.of("limiter.redis.own"))
                .text("f", new StringReader("limiter.policies.vote.limits = 3/10s\n"))
                .environment(environment)
                .build();
    }
}
