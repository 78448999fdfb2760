package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.Looks;
import io.limiter.kit.OnEachBackend;
import io.limiter.kit.OpenBackend;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Stream;

/** Reservations beside charges whose cost is known: one decision, and each ends in its own way. */
class MixedHoldsContractTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Policy TOKENS =
            Policy.of("tokens", Limit.tokenBucket(1_000, HOUR)).withHolds(10).withFailureMode(FailureMode.DENY);
    private static final Policy CALLS =
            Policy.of("calls", Limit.slidingZset(3, HOUR)).withFailureMode(FailureMode.DENY);
    private static final Policy USERS =
            Policy.of("users", Limit.distinct(2, HOUR)).withFailureMode(FailureMode.DENY);

    @OnEachBackend
    void eachEndsInItsOwnWay(OpenBackend on) {
        Hold first = reserve(on.limiter, 600, "a");
        assertTrue(first.allowed());
        assertEquals(List.of(400L, 2L, 1L), left(on.limiter));
        assertEquals(Settlement.SETTLED, on.limiter.settle(first, 100));
        assertEquals(List.of(900L, 2L, 1L), left(on.limiter));

        Hold second = reserve(on.limiter, 600, "b");
        assertFalse(on.limiter.refund(second.decision()), "it is settled instead");
        assertEquals(Settlement.SETTLED, on.limiter.cancel(second));
        assertEquals(List.of(900L, 2L, 1L), left(on.limiter));
        assertEquals(Settlement.ENDED, on.limiter.cancel(second));
        assertEquals(List.of(900L, 2L, 1L), left(on.limiter), "once only");

        assertFalse(reserve(on.limiter, 901, "a").allowed());
        assertEquals(List.of(900L, 2L, 1L), left(on.limiter), "all or nothing");
        assertTrue(reserve(on.limiter, 1, "a").allowed());
        assertTrue(reserve(on.limiter, 1, "a").allowed());
        assertFalse(reserve(on.limiter, 1, "a").allowed());
        assertEquals(List.of(898L, 0L, 1L), left(on.limiter));
    }

    /** A call is one call, whatever it costs; each ends by itself, and its tokens are settled. */
    @OnEachBackend
    void callsInFlightAreCountedBesideTokens(OpenBackend on) {
        Policy both = Policy.of(
                        "both", Limit.concurrent(2), Limit.tokenBucket(1_000, HOUR), Limit.fixedWindow(2_000, HOUR))
                .withHolds(10)
                .withFailureMode(FailureMode.DENY);
        Hold first = on.limiter.reserve(both, KEY, 300, Duration.ofMinutes(1));
        Hold second = on.limiter.reserve(both, KEY, 300, Duration.ofMinutes(1));
        assertTrue(first.allowed() && second.allowed());
        assertEquals(List.of(0L, 400L, 1_400L), remaining(on.limiter, both));
        for (int i = 0; i < 3; i++) {
            Hold third = on.limiter.reserve(both, KEY, 100, Duration.ofMinutes(1));
            assertFalse(third.allowed());
            assertTrue(third.decision().isRetryUnknown(), "a call may end at any time");
            Decision plain =
                    on.limiter.tryAcquire(PermitRequest.of(both, KEY, 100).withEnd());
            assertFalse(plain.allowed());
            assertTrue(plain.isRetryUnknown());
        }
        assertEquals(Settlement.SETTLED, on.limiter.settle(first, 500));
        on.limiter.end(first.decision());
        await(on.limiter, both, List.of(1L, 200L, 1_200L));
        Decision plain = on.limiter.tryAcquire(PermitRequest.of(both, KEY, 100).withEnd());
        assertTrue(plain.allowed());
        await(on.limiter, both, List.of(0L, 100L, 1_100L));
        assertTrue(on.limiter.refund(plain));
        assertEquals(Settlement.SETTLED, on.limiter.cancel(second));
        on.limiter.end(second.decision());
        await(on.limiter, both, List.of(2L, 500L, 1_500L));
        assertFalse(on.limiter.reserve(both, KEY, 1_001, Duration.ofMinutes(1)).allowed());
        await(on.limiter, both, List.of(2L, 500L, 1_500L));
    }

    /** As docs/recipes/third-party-api.md asks whether a pause is over. */
    @OnEachBackend
    void aCallThatOnlyAsksGivesBackWhatHasRunOut(OpenBackend on) {
        Limit often = Limit.tokenBucket(1_000, Duration.of(1, ChronoUnit.MICROS));
        for (Limit limit : List.of(often, Limit.fixedWindow(1_000, HOUR))) {
            Policy pause = Policy.of("pause", limit).withHolds(1_000).withFailureMode(FailureMode.DENY);
            PermitRequest all = PermitRequest.of(pause, KEY, 1_000).withCheck();
            assertTrue(on.limiter.reserve(pause, KEY, 1, Duration.ofSeconds(1)).allowed());
            assertFalse(on.limiter.tryAcquire(all).allowed());
            on.time.advance(Duration.ofSeconds(2));
            // The short way, which the limiter takes where another backend answers for this one.
            Backend.Decider decider = on.backend.decider(pause);
            assertTrue(decider.decideNow(KEY, 1_000, Backend.Mode.ASK).allowed());
            assertTrue(on.limiter.tryAcquire(all).allowed());
        }
    }

    /** In Redis an end is sent without waiting for its answer. */
    private static void await(RateLimiter limiter, Policy policy, List<Long> expected) {
        Await.until("" + expected, () -> remaining(limiter, policy).equals(expected));
    }

    private static List<Long> remaining(RateLimiter limiter, Policy policy) {
        return Looks.at(limiter, policy, KEY).outcomes().stream()
                .map(LimitOutcome::remaining)
                .toList();
    }

    private static Hold reserve(RateLimiter limiter, long tokens, String user) {
        return limiter.reserve(
                List.of(
                        new Charge(CALLS, KEY, 1),
                        new Charge(TOKENS, KEY, tokens),
                        new Charge(USERS, KEY, 1, null, PartitionKey.of(user))),
                Duration.ofMinutes(1));
    }

    private static List<Long> left(RateLimiter limiter) {
        return Stream.of(TOKENS, CALLS, USERS)
                .map(policy -> Looks.left(limiter, policy, KEY))
                .toList();
    }
}
