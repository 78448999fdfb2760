package io.limiter.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.internal.config.KeyPart;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What people write by mistake or by habit: it is understood, or the message contains what to write instead. */
class SlipsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "limiter.client-ip.trusted-proxies | ::ffff:0:0/96 | RL-104 | 10.0.0.0/8",
                "limiter.client-ip.trusted-proxies | ::ffff:10.0.0.0/8 | RL-104 | 10.0.0.0/8",
                "limiter.policies.v.limits | 100/1min | RL-104 | write a number and us, ms, s, m, h or d",
                "limiter.policies.v.limits | 5/sec | RL-104 | write a number and us, ms, s, m, h or d",
                "limiter.policies.v.on-failure | fail-open | RL-104 | write deny or local or allow",
                "limiter.policies.v.on-failure | FAIL_CLOSED | RL-104 | write deny or local or allow",
                "limiter.policies.v.fail-open | true | RL-101 | unknown key",
                "limiter.rules.hold | 15m | RL-101 | did you mean 'limiter.rules.hold.path'?",
                "policies.v.limits | 3/10s | RL-101 | did you mean 'limiter.policies.v.limits'?",
                "rules.v.path | /x | RL-101 | did you mean 'limiter.rules.v.path'?",
                "backend | redis | RL-101 | did you mean 'limiter.backend'?",
                "limiter.http.headers | draft-12 | RL-104 | draft-10",
                "limiter.redis.address | redis://host/2 | RL-104 | redis://127.0.0.1:6379/2",
            })
    void theMessageSaysWhatToWrite(String key, String value, String code, String remedy) {
        String message = messageOf(key, value);
        assertTrue(message.contains(code + " " + key), message);
        assertTrue(message.contains(remedy), message);
        assertTrue(!message.contains("0.0.0.0/32"), message);
    }

    /** It would be a header that no request has, and so a rule by address only: other limits than were meant. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "header:X-Api-Key+ip | 'header:X-Api-Key + ip'",
                "ip+header:X-Api-Key | 'ip + header:X-Api-Key'",
                "cookie:id+user | 'cookie:id + user'",
                "header:A+header:B + ip | 'header:A + header:B'",
                "header:A+ ip | 'header:A + ip'",
                "ip+global | 'ip + global'",
                "header:X-Api-Key+IP | 'header:X-Api-Key + IP'",
                "ip + ip | occurs twice",
            })
    void partsOfAKeyThatAreJoinedWithoutSpaces(String key, String remedy) {
        String message = messageOfRule(key);
        assertTrue(message.contains("RL-104") && message.contains(remedy), message);
    }

    @Test
    void aPlusInANameIsRefused() {
        assertTrue(messageOfRule("header:X+ipv6").contains("write parts with spaces between"));
        assertThrows(IllegalArgumentException.class, () -> new KeyPart(KeyPart.Kind.HEADER, "X+ipv6"));
    }

    @Test
    void aDatabaseIsChosenInTheAddressOfASingleServer() {
        LimiterConfig config = LimiterConfig.builder()
                .property("f", 1, "limiter.redis.address", "redis://a:1/2")
                .build();
        assertEquals(
                List.of("redis://a:1/2"), config.settings().redis().connection().addresses());
        for (String mode : List.of("cluster", "sentinel")) {
            ConfigException refused = assertThrows(
                    ConfigException.class,
                    () -> LimiterConfig.builder()
                            .property("f", 1, "limiter.redis.address", "redis://a:1/2")
                            .property("f", 2, "limiter.redis.mode", mode)
                            .property("f", 3, "limiter.redis.master", "m")
                            .build());
            assertTrue(String.valueOf(refused.getMessage()).contains("RL-106 limiter.redis.address"), mode);
        }
    }

    private static LimiterConfig rule(String key) {
        return LimiterConfig.builder()
                .property("f", 1, "limiter.rules.r.path", "/x")
                .property("f", 2, "limiter.rules.r.limits", "3/10s")
                .property("f", 3, "limiter.rules.r.key", key)
                .build();
    }

    private static String messageOfRule(String key) {
        return String.valueOf(
                assertThrows(ConfigException.class, () -> rule(key)).getMessage());
    }

    private static String messageOf(String key, String value) {
        return String.valueOf(assertThrows(
                        ConfigException.class,
                        () -> LimiterConfig.builder()
                                .property("f", 1, key, value)
                                .build())
                .getMessage());
    }
}
