package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class RedisKeysTest {
    private static final RedisKeys KEYS = new RedisKeys("limiter");

    @Test
    void aNameSaysPolicyClientLimitAndAlgorithm() {
        assertEquals("limiter:{limit_vgroup:192.168.1.19}:limit_vgroup:fixed1", name("limit_vgroup", "192.168.1.19"));
    }

    @Test
    void differentPartsAreDifferentNames() {
        assertEquals("limiter:{vote_web:10}:vote_web:fixed1", name("vote_web", "10"));
        assertEquals("limiter:{vote:web_10}:vote:fixed1", name("vote", "web_10"));
    }

    @Test
    void noBraceComesFromAClient() {
        assertEquals("limiter:{api:a%7Db%7Bc}:api:fixed1", name("api", "a}b{c"));
        assertEquals("limiter:{api:x%3Ay}:api:fixed1", name("api", "x:y"));
        assertEquals("limiter:{api:%0D%0A%00}:api:fixed1", name("api", "\r\n\0"));
    }

    @Test
    void aPrefixWithBracesIsRefused() {
        for (String prefix : List.of("{a}", "a{", "", "a b")) {
            assertThrows(IllegalArgumentException.class, () -> new RedisKeys(prefix));
        }
    }

    private static String name(String policy, String client) {
        Policy of = Policy.of(policy, Limit.fixedWindow(3, Duration.ofSeconds(10)));
        return KEYS.of(of, PartitionKey.of(client), of.limits().get(0));
    }
}
