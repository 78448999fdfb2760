package io.limiter.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.application.Limiter;
import io.limiter.kit.LogLines;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Overrides of single keys, and switches. */
class OverridesTest extends ControlFixture {
    private static final String ADDRESS = RedisServers.single();
    private static final PartitionKey BOB =
            PartitionKey.builder().add("user", "bob").build();
    private final Control control = control(ADDRESS);

    private static long admitted(Limiter limiter, PartitionKey key, int calls) {
        long admitted = 0;
        for (int i = 0; i < calls; i++) {
            admitted += limiter.tryAcquire("export", key, 1).allowed() ? 1 : 0;
        }
        return admitted;
    }

    @Test
    void otherLimitsForOneCallerKeepTheStateAndAreExactOnTwoInstances() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.export.limits = 3/1h");
        Limiter two = instance(ADDRESS, "limiter.policies.export.limits = 3/1h");
        assertEquals(2, admitted(one, ALICE, 2));
        set(control, "policy:export", ALICE.canonical(), "10/1h", soon(), "op", "ticket 7");
        await("in force", () -> entries(one).size() + entries(two).size() == 2);
        assertEquals(4, admitted(one, ALICE, 4));
        assertEquals(4, admitted(two, ALICE, 9));
        assertEquals(3, admitted(two, BOB, 9));
        assertNotEquals("", control.remove("policy:export", ALICE.canonical(), "op", ""));
        await("removed", () -> entries(one).isEmpty());
        assertFalse(one.tryAcquire("export", ALICE, 1).allowed());
        assertEquals("", control.remove("policy:export", ALICE.canonical(), "op", ""));
        assertEquals(2, control.versions(10).size());
    }

    /** While Redis is unreachable, each of two instances has its share of an override, and its end is that of this JVM's clock. */
    @Test
    void inTheLocalShare() throws Exception {
        try (Wire wire = Wire.to(RedisServers.singlePort())) {
            Limiter one = instance(
                    "redis://127.0.0.1:" + wire.port(),
                    "limiter.policies.export.limits = 4/1h",
                    "limiter.instances = 2",
                    "limiter.policies.export.deadline = 20ms");
            set(control, "policy:export", ALICE.canonical(), "10/1h", tomorrow(), "op", "");
            set(control, "policy:export", "b", "blocked", tomorrow(), "op", "");
            set(control, "policy:export", "u", "unlimited", soon(), "op", "");
            await("in force", () -> entries(one).size() == 3);
            wire.cut();
            await(
                    "local",
                    () -> one.tryAcquire("export", PartitionKey.of("other"), 1).source()
                            == Decision.Source.LOCAL_FALLBACK);
            assertEquals(5, admitted(one, ALICE, 20));
            assertEquals(2, admitted(one, BOB, 20));
            assertEquals(0, admitted(one, PartitionKey.of("b"), 3));
            assertEquals(30, admitted(one, PartitionKey.of("u"), 30));
            stepUntil(Duration.ofHours(2), "ended", () -> admitted(one, PartitionKey.of("u"), 3) < 3);
            assertEquals(0, admitted(one, PartitionKey.of("b"), 3));
        }
    }

    /** What is held is settled in the same state as it was taken from. */
    @Test
    void holdsUnderAnOverride() throws Exception {
        Limiter one = instance(
                ADDRESS,
                "limiter.policies.export.limits = 1000/1h token-bucket",
                "limiter.policies.export.holds = 100");
        set(control, "policy:export", ALICE.canonical(), "5/1h token-bucket", soon(), "op", "");
        await("in force", () -> entries(one).size() == 1);
        int granted = 0;
        for (int i = 0; i < 30; i++) {
            Hold hold = one.rateLimiter().reserve(one.policy("export"), ALICE, 1, Duration.ofSeconds(30));
            if (hold.allowed()) {
                granted++;
                assertEquals(Settlement.SETTLED, one.rateLimiter().settle(hold, 1));
            }
        }
        assertEquals(5, granted);
    }

    /** Limits that grant nothing have no state, so what was reserved before is settled under those of then. */
    @Test
    void aHoldIsSettledWhereAnOverrideGrantsNothingSince() throws Exception {
        Limiter one = instance(
                ADDRESS, "limiter.policies.export.limits = 10/1h fixed", "limiter.policies.export.holds = 100");
        Hold hold = one.rateLimiter().reserve(one.policy("export"), ALICE, 1, Duration.ofSeconds(30));
        set(control, "policy:export", ALICE.canonical(), "0/1h fixed", soon(), "op", "");
        await("in force", () -> entries(one).size() == 1);
        assertEquals(Settlement.SETTLED, one.rateLimiter().settle(hold, 4));
        control.remove("policy:export", ALICE.canonical(), "op", "");
        await("ended", () -> entries(one).isEmpty());
        assertEquals(6, admitted(one, ALICE, 10));
    }

    /** A mistyped name is seen by who looks, and keeps nothing else from being in force. */
    @Test
    void aTargetThatIsNotThere() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.export.limits = 1/1h");
        set(control, "policy:exprot", "", "off", soon(), "op", "");
        set(control, "policy:export", "", "off", soon(), "op", "");
        await("the right one", () -> admitted(one, ALICE, 3) == 3);
        // Names are looked at with each report, which is due every five seconds.
        Duration report = Duration.ofSeconds(6);
        stepUntil(report, "it says so", () -> findings(one).contains("RL-514"));
        stepUntil(
                report,
                "who looks too",
                () -> control.instances().get(0).problem().contains("policy:exprot"));
        assertTrue(control.instances().get(0).isCurrent());
        assertNotEquals("", control.remove("policy:exprot", "", "op", ""));
        stepUntil(report, "it says nothing", () -> !findings(one).contains("RL-514"));
    }

    @Test
    void blockedAndNotLimited() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.export.limits = 3/1h");
        set(control, "policy:export", ALICE.canonical(), "blocked", soon(), "op", "");
        set(control, "policy:export", BOB.canonical(), "unlimited", soon(), "op", "");
        await("in force", () -> entries(one).size() == 2);
        Decision denied = one.tryAcquire("export", ALICE, 1);
        assertFalse(denied.allowed());
        assertTrue(denied.blocked());
        assertEquals(Decision.Source.OVERRIDDEN, denied.source());
        assertTrue(denied.retryAfterMicros() > 3_000_000_000L, denied.toString());
        assertEquals(20, admitted(one, BOB, 20));
        assertEquals(20, one.rateLimiter().monitor().allowed("export", Decision.Source.OVERRIDDEN));
        assertEquals(1, one.rateLimiter().monitor().denied("export", Decision.Source.OVERRIDDEN));
        assertEquals(2, control.entries().size());
    }

    /** Where an operator says so, nothing is asked: a running block is there again when the override has ended. */
    @Test
    void notLimitedIsStrongerThanARunningBlock() throws Exception {
        Limiter one = instance(
                ADDRESS,
                "limiter.policies.export.limits = 1/1h",
                "limiter.policies.export.block = 2/1m for 15m up to 15m",
                "limiter.redis.denial-cache.max-age = 0ms");
        admitted(one, BOB, 5);
        assertTrue(one.tryAcquire("export", BOB, 1).blocked());
        set(control, "policy:export", BOB.canonical(), "unlimited", soon(), "op", "");
        await("in force", () -> entries(one).size() == 1);
        assertEquals(20, admitted(one, BOB, 20));
        control.remove("policy:export", BOB.canonical(), "op", "");
        await("removed", () -> entries(one).isEmpty());
        assertTrue(one.tryAcquire("export", BOB, 1).blocked());
    }

    /** Other limits don't lift a block, and a reset does. */
    @Test
    void aResetUnderAnOverride() throws Exception {
        Limiter one = instance(
                ADDRESS,
                "limiter.policies.export.limits = 1/1h",
                "limiter.policies.export.block = 2/1m for 15m up to 15m",
                "limiter.redis.denial-cache.max-age = 0ms");
        set(control, "policy:export", BOB.canonical(), "2/1h fixed", soon(), "op", "");
        await("in force", () -> entries(one).size() == 1);
        assertEquals(2, admitted(one, BOB, 9));
        assertTrue(one.tryAcquire("export", BOB, 1).blocked());
        one.rateLimiter().reset(one.policy("export"), BOB);
        assertEquals(2, admitted(one, BOB, 2));
    }

    @Test
    void anOverrideEndsByTheTimeOfRedis() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.export.limits = 1/1h");
        set(control, "policy:export", ALICE.canonical(), "unlimited", soon(), "op", "");
        await("in force", () -> entries(one).size() == 1);
        assertEquals(3, admitted(one, ALICE, 3));
        setForSeconds(control, "policy:export", ALICE.canonical(), "unlimited");
        await("ended", () -> one.tryAcquire("export", ALICE, 1).source() == Decision.Source.REDIS);
        await("forgotten", () -> entries(one).isEmpty());
        assertThrows(
                IllegalArgumentException.class,
                () -> set(control, "policy:export", ALICE.canonical(), "unlimited", Instant.now(), "op", ""));
    }

    @Test
    void aChargeOfSeveralPoliciesIsOverriddenPolicyByPolicy() throws Exception {
        Limiter one =
                instance(ADDRESS, "limiter.policies.export.limits = 1/1h", "limiter.policies.read.limits = 2/1h fixed");
        set(control, "policy:export", ALICE.canonical(), "unlimited", soon(), "op", "");
        await("in force", () -> entries(one).size() == 1);
        PermitRequest both = PermitRequest.of(
                List.of(new Charge(one.policy("export"), ALICE, 1), new Charge(one.policy("read"), ALICE, 1)));
        Decision first = one.rateLimiter().tryAcquire(both);
        assertTrue(first.allowed());
        assertEquals(2, first.charges().size());
        assertTrue(one.rateLimiter().tryAcquire(both).allowed());
        assertFalse(one.rateLimiter().tryAcquire(both).allowed());
        assertTrue(one.rateLimiter().refund(first));
        assertTrue(one.rateLimiter().acquireAsync(both).get().allowed());
    }

    @Test
    void theLogOfDenialsShowsWhoDecidedAndWhy() throws Exception {
        // Else the one denial by Redis may be one that is not logged, because another one was in the same second.
        Limiter one =
                instance(ADDRESS, "limiter.policies.export.limits = 3/1h", "limiter.redis.denial-cache.max-age = 0ms");
        set(control, "policy:export", ALICE.canonical(), "blocked", soon(), "carol", "ticket 7");
        set(control, "policy:export", BOB.canonical(), "0/1h", soon(), "dave", "");
        await("in force", () -> entries(one).size() == 2);
        try (LogLines log = new LogLines("io.limiter.Denials", Level.INFO).ofThreads()) {
            one.tryAcquire("export", ALICE, 1);
            String line = log.of(Level.INFO, "RL-405 ").get(0);
            assertTrue(
                    line.matches(".* source overridden \\(policy:export user=alice blocked until \\S+Z by carol"
                            + " \\(ticket 7\\)\\); denials.*"),
                    line);
            await("a line for the other", () -> {
                one.tryAcquire("export", BOB, 1);
                return log.of(Level.INFO, "RL-405 ").stream()
                        .anyMatch(other -> other.contains("source redis (policy:export user=bob 0/1h until"));
            });
        }
    }

    @Test
    void aSwitchOfAllLetsThoseGoThatWait() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.export.limits = 1/1h");
        assertEquals(1, admitted(one, ALICE, 1));
        CompletableFuture<Decision> waiting = one.rateLimiter()
                .acquireAsync(PermitRequest.of(one.policy("export"), ALICE, 1).withMaxWait(Duration.ofHours(2)));
        await("it waits", () -> one.rateLimiter().monitor().waiting() == 1);
        set(control, "all", "", "off", soon(), "op", "");
        await("it is through", waiting::isDone);
        assertEquals(Decision.Source.OVERRIDDEN, waiting.get().source());
    }

    @Test
    void switchesAreLiveAndLoud() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.export.limits = 1/1h");
        assertEquals(1, admitted(one, ALICE, 3));
        set(control, "policy:export", "", "off", soon(), "op", "");
        await("off", () -> entries(one).stream().anyMatch(each -> each.to().equals("off")));
        assertEquals(3, admitted(one, ALICE, 3));
        set(control, "all", "", "deny", soon(), "op", "maintenance");
        await("denied", () -> !one.tryAcquire("export", BOB, 1).allowed());
        await(
                "health",
                () -> one.rateLimiter().monitor().health().findings().toString().contains("RL-509 in force: all deny"));
        set(control, "all", "", "off", soon(), "op", "");
        await("all off", () -> one.tryAcquire("export", BOB, 1).allowed());
        assertEquals(9, admitted(one, BOB, 9));
        control.remove("all", "", "op", "");
        control.remove("policy:export", "", "op", "");
        await("as before", () -> !one.tryAcquire("export", ALICE, 1).allowed());
    }
}
