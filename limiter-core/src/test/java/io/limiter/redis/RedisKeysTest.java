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
    private static final RedisKeys KEYS = new RedisKeys("limiter", null);

    @Test
    void aNameSaysPolicyClientLimitAndAlgorithm() {
        Policy of = Policy.of("limit_vgroup", Limit.fixedWindow(3, Duration.ofSeconds(10)));
        assertEquals(
                "limiter:{limit_vgroup:192.168.1.19}:10000000:fixed1",
                KEYS.of(of, PartitionKey.of("192.168.1.19"), of.limits().get(0)));
    }

    @Test
    void aLimitWithANameOfItsOwnIsNamedByIt() {
        Limit daily = Limit.fixedWindow(3, Duration.ofSeconds(10)).withName("daily");
        Policy of = Policy.of("vote", daily);
        assertEquals(
                "limiter:{vote:a}:daily:fixed1",
                KEYS.of(of, PartitionKey.of("a"), of.limits().get(0)));
    }

    /** Neither the neighbors of a limit nor its permits are in the name; the share of a bucket has another period. */
    @Test
    void theNameOfAStateDoesNotDependOnItsNeighboursNorOnPermits() {
        Limit alone = Limit.tokenBucket(3, Duration.ofSeconds(10));
        Policy one = Policy.of("vote", alone);
        Policy several = Policy.of(
                "vote", Limit.fixedWindow(1, Duration.ofDays(1)), Limit.tokenBucket(9, Duration.ofSeconds(10)));
        assertEquals(
                KEYS.of(one, PartitionKey.of("a"), one.limits().get(0)),
                KEYS.of(several, PartitionKey.of("a"), several.limits().get(1)));
    }

    @Test
    void aPrefixWithBracesIsRefused() {
        for (String prefix : List.of("{a}", "a{", "", "a b")) {
            assertThrows(IllegalArgumentException.class, () -> new RedisKeys(prefix, null));
        }
    }
}
