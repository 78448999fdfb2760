package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** How much memory members may take, and what is denied when there is none left. */
class DistinctStateTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");

    private final ManualTime time = new ManualTime();

    private InProcessBackend backend(int entries, long stamps) {
        return InProcessBackend.builder()
                .timeSource(time)
                .maxEntries(entries)
                .maxStamps(stamps)
                .build();
    }

    private static Decision take(RateLimiter limiter, Policy policy, PartitionKey key, String member) {
        return limiter.tryAcquire(PermitRequest.of(List.of(new Charge(policy, key, 1, null, PartitionKey.of(member)))));
    }

    @Test
    void membersThatDoNotFitAreDeniedAndTheKnownOnesAreNot() {
        InProcessBackend backend = backend(100, 4 * DistinctState.STAMPS_A_MEMBER);
        Policy policy = Policy.of("p", Limit.distinct(10_000, Duration.ofSeconds(10)));
        try (RateLimiter limiter = RateLimiters.on(backend)) {
            int known = 0;
            while (take(limiter, policy, KEY, "member " + known).allowed()) {
                known++;
            }
            assertEquals(4, known);
            assertEquals(4 * DistinctState.STAMPS_A_MEMBER, backend.stamps());
            Decision denied = take(limiter, policy, KEY, "another");
            assertEquals(10_000_000, denied.retryAfterMicros());
            assertTrue(take(limiter, policy, KEY, "member 0").allowed());
            time.advance(Duration.ofSeconds(10));
            assertTrue(take(limiter, policy, KEY, "another").allowed());
            assertEquals(DistinctState.STAMPS_A_MEMBER, backend.stamps());
        }
    }

    @Test
    void whatIsGivenBackForgottenOrOverTakesNoMemory() {
        InProcessBackend backend = backend(100, 1_000);
        Policy policy = Policy.of("p", Limit.distinct(5, Duration.ofSeconds(10)));
        try (RateLimiter limiter = RateLimiters.on(backend)) {
            Decision first = take(limiter, policy, KEY, "a");
            take(limiter, policy, KEY, "b");
            assertEquals(2 * DistinctState.STAMPS_A_MEMBER, backend.stamps());
            assertTrue(limiter.refund(first));
            assertEquals(DistinctState.STAMPS_A_MEMBER, backend.stamps());
            limiter.reset(policy, KEY);
            assertEquals(0, backend.stamps());
            take(limiter, policy, KEY, "c");
            assertFalse(limiter.refund(take(limiter, policy, KEY, "c")), "it was known");
            assertEquals(DistinctState.STAMPS_A_MEMBER, backend.stamps());
            limiter.tryAcquire(PermitRequest.of(
                            List.of(new Charge(policy, PartitionKey.of("other"), 1, null, PartitionKey.of("d"))))
                    .withLook());
            assertEquals(DistinctState.STAMPS_A_MEMBER, backend.stamps());
            assertEquals(1, backend.entries());
        }
    }

    /** A table that is full: keys share a state, and members of one key are not known for another one. */
    @Test
    void keysThatShareAStateDoNotShareMembers() {
        InProcessBackend backend = backend(1, 1_000_000);
        Policy filler = Policy.of("filler", Limit.fixedWindow(1, Duration.ofDays(1)));
        Policy policy = Policy.of("p", Limit.distinct(2, Duration.ofSeconds(10)));
        try (RateLimiter limiter = RateLimiters.on(backend)) {
            limiter.tryAcquire(filler, KEY, 1);
            int allowed = 0;
            for (int i = 0; i < 10_000; i++) {
                allowed +=
                        take(limiter, policy, PartitionKey.of("key " + i), "m").allowed() ? 1 : 0;
            }
            assertEquals(
                    2 * StateTable.SHARED_STATES,
                    allowed,
                    10,
                    "each shared state has the whole limit, of all its keys");
            time.advance(Duration.ofSeconds(10));
            assertTrue(take(limiter, policy, PartitionKey.of("key"), "m").allowed());
        }
    }

    /** However long members are, what is kept of one is short. */
    @Test
    void longMembersAreKeptAsHashes() {
        Policy policy = Policy.of("p", Limit.distinct(10, Duration.ofDays(1)));
        PartitionKey member = PartitionKey.of(Collections.nCopies(30, "x".repeat(70_000)));
        assertTrue(new Charge(policy, KEY, 1, null, member).memberText().length() < 64);
        assertEquals("", new Charge(policy, KEY, 1).memberText());
        assertEquals("a%20b", new Charge(policy, KEY, 1, null, PartitionKey.of("a b")).memberText());
    }
}
