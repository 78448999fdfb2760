package io.limiter.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The clock of Redis steps, in both directions: nothing that is published waits for it. */
class ClockTest extends ControlFixture {
    private static final String ADDRESS = RedisServers.single();
    private final Control control = steppedControl(ADDRESS);

    private void stepTo(Duration ahead) {
        redisAheadMicros.set(ahead.toNanos() / 1_000);
    }

    /** All limits are off, by a switch that was set while the clock was ahead: it is removed after the clock has stepped back. */
    @Test
    void aSwitchIsRemoved() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.vote.limits = 1/1h");
        stepTo(Duration.ofHours(2));
        set(control, "all", "", "off", control.now().plusSeconds(3_600), "op", "");
        // A second call passes only where all is off.
        one.tryAcquire("vote", ALICE, 1);
        await("off", () -> one.tryAcquire("vote", ALICE, 1).allowed());
        stepTo(Duration.ZERO);
        assertFalse(control.remove("all", "", "op", "").isEmpty());
        await("on", () -> entries(one).isEmpty());
        one.tryAcquire("vote", ALICE, 1);
        assertFalse(one.tryAcquire("vote", ALICE, 1).allowed());
        await("it is current", () -> control.instances().stream().anyMatch(Control.Instance::isCurrent));
    }

    /** A text too. */
    @Test
    void aTextIsReplaced() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.vote.limits = 1/1h");
        for (long hours : new long[] {2, 0, 48, -24, 0}) {
            stepTo(Duration.ofHours(hours));
            long version = control.version();
            String text = "limiter.policies.vote.limits = " + (version + 5) + "/1h\n";
            assertEquals(version + 1, control.publish(text, "alice", "", version));
            await("in force", () -> limits(one, "vote").contains("[" + (version + 5) + "/1h"));
            await(
                    "it is current",
                    () -> control.instances().stream()
                            .anyMatch(each -> each.version() == version + 1 && each.isCurrent()));
        }
    }

    /** A report is written, and so the time is learned, also after the clock has stepped back. */
    @Test
    void anOverrideEndsByTheTimeThatRedisHasNow() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.vote.limits = 1/1h");
        stepTo(Duration.ofDays(3));
        set(control, "policy:vote", "user:alice", "blocked", control.now().plusSeconds(3_600), "op", "");
        await("in force", () -> entries(one).size() == 1);
        stepTo(Duration.ofHours(-2));
        set(control, "policy:vote", "user:bob", "blocked", control.now().plusSeconds(3_600), "op", "");
        await("both", () -> entries(one).size() == 2);
        stepTo(Duration.ZERO);
        // Of those who have learned the time, only the first one has not ended.
        stepUntil(Duration.ofSeconds(6), "bob's has ended", () -> entries(one).size() == 1);
        assertTrue(entries(one).iterator().next().key().contains("alice"));
    }

    /** Who reads it just before its end, by the same clock, finds it. */
    @Test
    void whatHasNotEndedIsThere() {
        Instant end = control.now().plusSeconds(3_600);
        set(control, "policy:vote", "user:alice", "blocked", end, "op", "");
        redis(ADDRESS, redis -> {
            long left = redis.pttl(key("entries:1"));
            List<String> time = redis.time();
            long now = Long.parseLong(time.get(0)) * 1_000 + Long.parseLong(time.get(1)) / 1_000;
            long after = now + left - end.toEpochMilli();
            assertTrue(after >= 900, "it leaves " + after + " ms after its end");
        });
    }

    /** What has ended leaves Redis, without anybody who removes it. */
    @Test
    void whatHasEndedIsGone() throws Exception {
        Limiter one = instance(ADDRESS, "limiter.policies.vote.limits = 1/1h");
        control.publish("limiter.policies.vote.limits = 5/1h\n", "alice", "a note", 0);
        set(control, "policy:vote", "user:bob", "blocked", soon(), "op", "");
        control.remove("policy:vote", "user:bob", "op", "");
        setForSeconds(control, "policy:vote", "user:alice", "blocked");
        redis(ADDRESS, redis -> {
            String all = key("").replace("{", "\\{");
            assertTrue(redis.pttl(key("entries:2")) <= 60_000, "what was removed");
            await("it has ended", () -> redis.get(key("entries:4")) == null);
            for (String key : redis.keys(all + "*")) {
                long left = redis.pttl(key);
                boolean isInForce = key.equals(key("current")) || key.equals(key("text:4"));
                assertTrue(isInForce ? left == -1 : left > 0 && left <= 30 * 86_400_000L, key + " " + left);
                boolean isKept = key.contains(":change:") || key.contains(":entries:");
                assertTrue(isKept || !redis.get(key).matches("(?s).*(alice|bob|a note).*"), key);
            }
        });
        assertEquals(4, control.versions(10).size());
        assertEquals(List.of(), control.entries());
        // Which are not there any more: one that has them, and one that starts.
        Limiter other = instance(ADDRESS, "limiter.policies.vote.limits = 1/1h");
        assertTrue(limits(other, "vote").contains("[5/1h"));
        await(
                "both are well",
                () -> findings(one).equals("[]") && findings(other).equals("[]"));
        set(control, "policy:vote", "user:bob", "blocked", soon(), "op", "");
        await("in force", () -> entries(one).size() == 1 && entries(other).size() == 1);
    }
}
