package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Backend;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.application.Derived;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Configs;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ReplaceTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");

    private static LimiterConfig config(String... lines) {
        return Configs.of(Stream.of(lines).map(line -> "limiter." + line + "\n").collect(Collectors.joining()));
    }

    @Test
    void whatNeedsARestartIsRefusedWhole() {
        try (Limiter limiter = Limiter.start(config("policies.vote.limits = 3/1h"))) {
            LimiterConfig before = limiter.config();
            IllegalArgumentException refused = assertThrows(
                    IllegalArgumentException.class,
                    () -> limiter.replace(config(
                            "policies.vote.limits = 9/1h",
                            "redis.address = redis://127.0.0.1:1",
                            "in-process.max-entries = 7",
                            "instances = 2")));
            assertEquals(
                    "RL-150 limiter.backend, limiter.redis.address, limiter.in-process.max-entries, limiter.instances"
                            + " can't change while the limiter runs; restart with the new configuration. Nothing of it is in force",
                    refused.getMessage());
            assertSame(before, limiter.config());
            assertEquals(3, limiter.policy("vote").limits().get(0).permits());
        }
    }

    @Test
    void policiesAreAnnouncedAndRetracted() {
        List<String> told = new ArrayList<>();
        Backend backend = new AskedBackend(InProcessBackend.create()) {
            @Override
            public void announce(Policy policy) {
                told.add("+" + policy.name() + " " + policy.limits().get(0).permits());
            }

            @Override
            public void retract(Policy policy) {
                told.add("-" + policy.name());
            }
        };
        LimiterConfig first = config("policies.a.limits = 1/1h", "policies.b.limits = 1/1h");
        try (Limiter limiter = Limiter.of(first, RateLimiters.on(backend))) {
            assertEquals(List.of("+a 1", "+b 1"), told);
            told.clear();
            limiter.replace(config("policies.a.limits = 2/1h", "policies.c.limits = 1/1h"));
            assertEquals(List.of("+a 2", "+c 1", "-b"), told);
            told.clear();
            Derived<Policy> plan = limiter.derive(
                    config -> Policy.of("d", config.policies().get("a").limits().get(0)), List::of);
            limiter.replace(config("policies.a.limits = 3/1h"));
            assertEquals("+d 2", told.get(0));
            assertEquals(Set.of("+a 3", "+d 3"), Set.copyOf(told.subList(1, 3)), "in any order");
            assertEquals("-c", told.get(3));
            plan.close();
            assertEquals("-d", told.get(4));
            assertThrows(IllegalArgumentException.class, () -> limiter.replace(config("instances = 2")));
            assertEquals(5, told.size(), "a refused one announces nothing");
        }
    }

    @Test
    void listenersHearOfWhatIsInForceAndOnlyOfThat() {
        List<String> heard = new ArrayList<>();
        try (Limiter limiter = Limiter.start(config("policies.a.limits = 1/1h"));
                LogLines log = new LogLines().ofThreads()) {
            Derived<String> first = limiter.<String>derive(
                            config -> config.policies().keySet().toString())
                    .onReplaced(value ->
                            heard.add(value + " of " + limiter.policies().keySet()))
                    .onReplaced(value -> {
                        if (value.contains("b")) {
                            throw new IllegalStateException("on purpose");
                        }
                    });
            Derived<LimiterConfig> second = limiter.derive(config -> {
                if (config.policies().containsKey("c")) {
                    throw new IllegalStateException("no c");
                }
                return config;
            });
            second.onReplaced(config -> heard.add("second"));
            heard.clear();
            assertThrows(IllegalStateException.class, () -> limiter.replace(config("policies.c.limits = 1/1h")));
            assertEquals(List.of(), heard);
            limiter.replace(config("policies.b.limits = 1/1h"));
            assertEquals(List.of("[b] of [b]", "second"), heard);
            assertEquals(1, log.of(Level.WARN, "RL-186").size(), log::toString);
            first.close();
            heard.clear();
            limiter.replace(config("policies.a.limits = 1/1h"));
            assertEquals(List.of("second"), heard);
        }
    }

    @Test
    void findingsAreLoggedOnceAndNotOnRefusal() {
        String[] shadow = {"rules.r.path = /*", "rules.r.limits = 1/1h", "rules.r.shadow = true"};
        try (Limiter limiter = Limiter.start(config("policies.a.limits = 1/1h"));
                LogLines log = new LogLines("io.limiter", Level.INFO).ofThreads()) {
            limiter.announce(Policy.of("r", Limit.fixedWindow(1, Duration.ofHours(1))));
            assertThrows(IllegalArgumentException.class, () -> limiter.replace(config(shadow)));
            assertEquals("", log.toString());
        }
        try (Limiter limiter = Limiter.start(config("policies.a.limits = 1/1h"));
                LogLines log = new LogLines().ofThreads()) {
            limiter.replace(config(shadow));
            limiter.replace(config(shadow));
            assertEquals(1, log.of(Level.WARN, "RL-155").size(), log::toString);
            limiter.replace(config("policies.a.limits = 1/1h"));
            limiter.replace(config(shadow));
            assertEquals(2, log.of(Level.WARN, "RL-155").size(), "it had gone");
        }
    }

    @Test
    void policiesThatNothingUsesAreLoggedWhenThatIsKnown() {
        try (LogLines log = new LogLines("io.limiter", Level.INFO).ofThreads()) {
            try (Limiter limiter = Limiter.start(config(
                    "policies.rare.limits = 1/1h",
                    "policies.named.limits = 1/1h",
                    "policies.object.limits = 1/1h",
                    "policies.annotated.limits = 1/1h",
                    "policies.ruled.limits = 1/1h",
                    "rules.r.path = /*",
                    "rules.r.policy = ruled"))) {
                limiter.tryAcquire("named", KEY, 1);
                limiter.rateLimiter().tryAcquire(limiter.policies().get("object"), KEY, 1);
                limiter.derive(config -> config.policies().get("annotated"), List::of)
                        .close();
                assertEquals(List.of(), log.of(Level.INFO, "RL-140"), "code may use it later");
            }
            List<String> lines = log.of(Level.INFO, "RL-140");
            assertEquals(1, lines.size(), log::toString);
            assertTrue(lines.get(0).contains(" [rare]"), lines::toString);
        }
    }

    @Test
    void unusedPoliciesAreLoggedOnce() {
        try (LogLines log = new LogLines("io.limiter", Level.INFO).ofThreads()) {
            Limiter.start(config("policies.rare.limits = 1/1h", "enabled = false"))
                    .close();
            assertEquals(List.of(), log.of(Level.INFO, "RL-140"));
            Limiter limiter = Limiter.start(config("policies.rare.limits = 1/1h", "policies.lazy.limits = 1/1h"));
            limiter.reportUnusedPolicies(() -> List.of("lazy"));
            limiter.reportUnusedPolicies(List::of);
            limiter.close();
            limiter.close();
            assertEquals(1, log.of(Level.WARN, "RL-140").size(), log::toString);
            assertTrue(log.toString().contains(" [rare]"), log::toString);
            assertEquals(List.of(), log.of(Level.INFO, "RL-140"));
        }
    }

    @Test
    void whatIsDerivedIsReplacedWithItOrRefusesIt() {
        try (Limiter limiter = Limiter.start(config("policies.vote.limits = 3/1h"))) {
            Derived<Policy> vote = limiter.derive(config -> {
                Policy policy = config.policies().get("vote");
                if (policy == null) {
                    throw new IllegalStateException("no vote");
                }
                return policy;
            });
            limiter.replace(config("policies.vote.limits = 5/1h"));
            assertSame(limiter.policy("vote"), vote.get());
            LimiterConfig without = config("policies.other.limits = 5/1h");
            assertThrows(IllegalStateException.class, () -> limiter.replace(without));
            assertSame(limiter.policy("vote"), vote.get());
            vote.close();
            limiter.replace(without);
            assertThrows(IllegalArgumentException.class, () -> limiter.policy("vote"));
        }
    }

    @Test
    void announcedPoliciesTakePart() {
        try (Limiter limiter = Limiter.start(config("policies.vote.limits = 3/1h"))) {
            Policy own = Policy.of("own", Limit.tokenBucket(1, Duration.ofSeconds(1)));
            limiter.announce(own);
            limiter.announce(own);
            assertSame(own, limiter.policy("own"));
            LimiterConfig taken = config("policies.own.limits = 5/1h");
            assertTrue(assertThrows(IllegalArgumentException.class, () -> limiter.replace(taken))
                    .getMessage()
                    .startsWith("RL-151 policy 'own'"));
            assertThrows(IllegalArgumentException.class, () -> limiter.announce(own.withFailureMode(FailureMode.DENY)));
            limiter.replace(config());
            assertEquals("[own]", limiter.policies().keySet().toString());
        }
    }
}
