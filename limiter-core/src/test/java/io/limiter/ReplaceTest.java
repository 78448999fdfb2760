package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReplaceTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");

    private static LimiterConfig config(String... properties) {
        Map<String, String> all = new LinkedHashMap<>();
        for (int i = 0; i < properties.length; i += 2) {
            all.put("limiter." + properties[i], properties[i + 1]);
        }
        return LimiterConfig.builder().properties("test", all).build();
    }

    @Test
    void stateStaysAndTheNewLimitIsInForceAtOnce() {
        try (Limiter limiter = Limiter.start(config("policies.vote.limits", "3/1h"))) {
            for (int i = 0; i < 3; i++) {
                assertTrue(limiter.tryAcquire("vote", KEY, 1).allowed());
            }
            limiter.replace(config("policies.vote.limits", "5/1h"));
            assertEquals(1, limiter.tryAcquire("vote", KEY, 1).remaining());
            limiter.replace(config("policies.vote.limits", "2/1h", "policies.new.limits", "1/1h"));
            assertFalse(limiter.tryAcquire("vote", KEY, 1).allowed());
            assertTrue(limiter.tryAcquire("new", KEY, 1).allowed());
        }
    }

    @Test
    void whatNeedsARestartIsRefusedWhole() {
        try (Limiter limiter = Limiter.start(config("policies.vote.limits", "3/1h"))) {
            LimiterConfig before = limiter.config();
            IllegalArgumentException refused = assertThrows(
                    IllegalArgumentException.class,
                    () -> limiter.replace(config(
                            "policies.vote.limits",
                            "9/1h",
                            "redis.address",
                            "redis://127.0.0.1:1",
                            "in-process.max-entries",
                            "7",
                            "instances",
                            "2",
                            "jmx.name",
                            "shop")));
            assertEquals(
                    "RL-150 limiter.backend, limiter.redis.*, limiter.in-process.*, limiter.instances, limiter.jmx.name"
                            + " can't change while the limiter runs; restart with the new configuration. Nothing of it is in force",
                    refused.getMessage());
            assertSame(before, limiter.config());
            assertEquals(3, limiter.policy("vote").limits().get(0).permits());
        }
    }

    @Test
    void whatIsDerivedIsReplacedWithItOrRefusesIt() {
        try (Limiter limiter = Limiter.start(config("policies.vote.limits", "3/1h"))) {
            Derived<Policy> vote = limiter.derive(config -> {
                Policy policy = config.policies().get("vote");
                if (policy == null) {
                    throw new IllegalStateException("no vote");
                }
                return policy;
            });
            limiter.replace(config("policies.vote.limits", "5/1h"));
            assertSame(limiter.policy("vote"), vote.get());
            LimiterConfig without = config("policies.other.limits", "5/1h");
            assertThrows(IllegalStateException.class, () -> limiter.replace(without));
            assertSame(limiter.policy("vote"), vote.get());
            vote.close();
            limiter.replace(without);
            assertThrows(IllegalArgumentException.class, () -> limiter.policy("vote"));
        }
    }

    @Test
    void announcedPoliciesTakePart() {
        try (Limiter limiter = Limiter.start(config("policies.vote.limits", "3/1h"))) {
            Policy own = Policy.of("own", Limit.tokenBucket(1, Duration.ofSeconds(1)));
            limiter.announce(own);
            limiter.announce(own);
            assertSame(own, limiter.policy("own"));
            LimiterConfig taken = config("policies.own.limits", "5/1h");
            assertTrue(assertThrows(IllegalArgumentException.class, () -> limiter.replace(taken))
                    .getMessage()
                    .startsWith("RL-151 policy 'own'"));
            assertThrows(IllegalArgumentException.class, () -> limiter.announce(own.onFailure(FailureMode.DENY)));
            limiter.replace(config());
            assertEquals("[own]", limiter.policies().keySet().toString());
        }
    }

    @Test
    void aPeriodThatChangesIsLoggedUnlessTheLimitHasAName() {
        try (Limiter limiter = Limiter.start(
                        config("policies.vote.limits", "3/1h", "policies.named.limits", "3/1h name long"));
                LogLines log = new LogLines()) {
            limiter.replace(config("policies.vote.limits", "9/1h", "policies.named.limits", "3/2h name long"));
            assertEquals(0, log.of(Level.WARN, "RL-152").size());
            limiter.replace(config("policies.vote.limits", "9/2h", "policies.named.limits", "3/2h name long"));
            assertEquals(1, log.of(Level.WARN, "RL-152").size(), log::toString);
        }
    }
}
