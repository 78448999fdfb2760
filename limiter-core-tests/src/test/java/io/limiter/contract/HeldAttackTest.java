package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.Algorithm;
import io.limiter.internal.HoldTerms;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Backends;
import io.limiter.kit.HeldRun;
import io.limiter.kit.TestedBackend;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Those who hold permits try to get more than the limit: by what they report, by settling again, by other ids, by many holds. */
class HeldAttackTest {
    private static final long START = 1_700_000_000_000_000L;
    private static final long LIMIT = 10;
    private static final Duration PERIOD = Duration.ofHours(10);
    private static final Duration TTL = Duration.ofMinutes(1);
    private static final PartitionKey KEY = PartitionKey.of("k");

    static Stream<Arguments> limitsAndBackends() {
        return HeldRun.algorithms().stream()
                .map(algorithm -> AnyAlgorithm.limit(algorithm, LIMIT, PERIOD.toMillis() * 1_000))
                .flatMap(limit -> Backends.ofEachKind().stream().map(tested -> Arguments.of(limit, tested)));
    }

    private interface Attack {
        void on(RateLimiter limiter, Backend backend, Policy policy, ManualTime time) throws Exception;
    }

    private static void on(Limit limit, TestedBackend tested, Attack attack) throws Exception {
        ManualTime time = new ManualTime(START);
        Policy policy = Policy.of("p", limit).withFailureMode(FailureMode.DENY).withHolds(100);
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            attack.on(limiter, backend, policy, time);
        }
    }

    private static long left(RateLimiter limiter, Policy policy) {
        return limiter.tryAcquire(policy, KEY, 0).remaining();
    }

    /** Nobody pays less by reporting what is no cost: the estimate stays, also after the time of the hold. */
    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("limitsAndBackends")
    void whatIsNoCostLeavesTheEstimate(Limit limit, TestedBackend tested) throws Exception {
        on(limit, tested, (limiter, backend, policy, time) -> {
            long[] odd = {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 31, (long) Double.POSITIVE_INFINITY};
            for (long cost : odd) {
                Hold hold = limiter.reserve(policy, KEY, 2, TTL);
                assertTrue(hold.allowed());
                assertEquals(Settlement.IGNORED, limiter.settle(hold, cost));
                assertEquals(Settlement.ENDED, limiter.settle(hold, 0));
            }
            time.setMicros(time.nowMicros() + 2 * TTL.toMillis() * 1_000);
            assertEquals(0, left(limiter, policy), "an estimate came back");
        });
    }

    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("limitsAndBackends")
    void aHugeCostLocksNobodyOutForLong(Limit limit, TestedBackend tested) throws Exception {
        on(limit, tested, (limiter, backend, policy, time) -> {
            for (int i = 0; i < 5; i++) {
                Hold hold = limiter.reserve(policy, KEY, 1, Duration.ofMillis(1));
                time.setMicros(time.nowMicros() + 1_000);
                if (hold.allowed()) {
                    assertEquals(Settlement.SETTLED, limiter.settle(hold, Integer.MAX_VALUE));
                }
            }
            Decision denied = limiter.tryAcquire(policy, KEY, 1);
            assertFalse(denied.allowed());
            assertEquals(0, denied.remaining());
            assertTrue(denied.retryAfterMicros() <= PERIOD.multipliedBy(2).toMillis() * 1_000);
            time.setMicros(time.nowMicros() + denied.retryAfterMicros());
            assertTrue(limiter.tryAcquire(policy, KEY, 1).allowed());
        });
    }

    /** Else callers who only see the quota of another limit would fill its records, which only their time would empty. */
    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("limitsAndBackends")
    void aChargeOfNothingIsNotRecorded(Limit limit, TestedBackend tested) throws Exception {
        on(limit, tested, (limiter, backend, policy, time) -> {
            Policy few = Policy.of("few", limit).withHolds(1);
            assertTrue(limiter.tryAcquire(few, KEY, 1).allowed());
            for (int i = 0; i < 3; i++) {
                List<Charge> charges = List.of(new Charge(policy, KEY, 1), new Charge(few, KEY, 0));
                assertTrue(limiter.reserve(charges, TTL).allowed());
            }
        });
    }

    /** By many threads at once, in time and late. */
    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("limitsAndBackends")
    void manySettlementsAreOne(Limit limit, TestedBackend tested) throws Exception {
        on(limit, tested, (limiter, backend, policy, time) -> {
            for (long late : new long[] {0, TTL.toMillis() * 1_000}) {
                Hold hold = limiter.reserve(policy, KEY, 4, TTL);
                time.setMicros(time.nowMicros() + late);
                List<Settlement> told = AtOnce.call(16, thread -> limiter.settle(hold, 2));
                assertEquals(1, Collections.frequency(told, Settlement.SETTLED));
            }
            assertEquals(LIMIT - 4, left(limiter, policy));
        });
    }

    /** Of a hold that is known in all but its id, of another key, of another moment. */
    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("limitsAndBackends")
    void holdsOfOthersAreNone(Limit limit, TestedBackend tested) throws Exception {
        on(limit, tested, (limiter, backend, policy, time) -> {
            HoldTerms terms = HoldTerms.of(TTL, HoldTerms.DEFAULT_KEEP);
            Decision held = backend.reserve(List.of(new Charge(policy, KEY, 4)), terms)
                    .toCompletableFuture()
                    .join();
            LimitOutcome own = held.outcomes().get(0);
            HoldTerms guessed = HoldTerms.of(TTL, HoldTerms.DEFAULT_KEEP);
            Decision forged = forged(new Charge(policy, PartitionKey.of("other"), 4), own.stampMicros());
            assertEquals(Settlement.ENDED, settle(backend, forged, terms));
            assertEquals(Settlement.ENDED, settle(backend, held, guessed));
            assertEquals(LIMIT - 4, left(limiter, policy));
            assertEquals(Settlement.SETTLED, settle(backend, held, terms));
            assertEquals(LIMIT, left(limiter, policy));
            Hold hold = limiter.reserve(policy, KEY, 4, TTL);
            assertFalse(limiter.refund(hold.decision()), "a reservation is no call to refund");
            assertEquals(LIMIT - 4, left(limiter, policy));
        });
    }

    private static Decision forged(Charge charge, long end) {
        Limit limit = charge.policy().limits().get(0);
        return Decision.of(Decision.Source.REDIS, LimitOutcome.of(charge, limit, true, 0, 0, 0, 0, end));
    }

    private static Settlement settle(Backend backend, Decision decision, HoldTerms terms) {
        return backend.settle(decision, terms, none -> 0)
                .toCompletableFuture()
                .join()
                .get(0)
                .settlement();
    }

    /** The policy has no holds any more, other numbers, or nothing at all to give. */
    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("limitsAndBackends")
    void aHoldOutlivesItsPolicy(Limit limit, TestedBackend tested) throws Exception {
        on(limit, tested, (limiter, backend, policy, time) -> {
            Hold used = limiter.reserve(policy, KEY, 4, TTL);
            Hold cancelled = limiter.reserve(policy, KEY, 3, TTL);
            Policy without = Policy.of("p", limit).withFailureMode(FailureMode.DENY);
            backend.retract(policy);
            assertThrows(IllegalArgumentException.class, () -> limiter.reserve(without, KEY, 1, TTL));
            if (limit.algorithm() != Algorithm.TOKEN_BUCKET) {
                // Of a bucket, only instances whose policy has holds know what is held in Redis.
                assertFalse(limiter.tryAcquire(without, KEY, 4).allowed(), "what is held counts under any policy");
            }
            assertEquals(Settlement.SETTLED, limiter.settle(used, 4));
            assertEquals(Settlement.SETTLED, limiter.cancel(cancelled));
            assertEquals(LIMIT - 4, left(limiter, policy));
        });
    }

    /** What is held may come back later then, or not at all; nobody gets more. */
    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("limitsAndBackends")
    void aClockThatStepsBackMintsNothing(Limit limit, TestedBackend tested) throws Exception {
        on(limit, tested, (limiter, backend, policy, time) -> {
            Hold cancelled = limiter.reserve(policy, KEY, 6, TTL);
            time.setMicros(START - PERIOD.toMillis() * 100);
            assertFalse(limiter.tryAcquire(policy, KEY, 5).allowed(), "held permits count");
            Hold used = limiter.reserve(policy, KEY, 4, TTL);
            assertTrue(used.allowed());
            assertEquals(Settlement.SETTLED, limiter.cancel(cancelled));
            assertTrue(left(limiter, policy) <= 6);
            time.setMicros(time.nowMicros() - PERIOD.toMillis() * 100);
            assertEquals(Settlement.SETTLED, limiter.settle(used, 4));
            assertTrue(left(limiter, policy) <= 6);
            assertEquals(Settlement.ENDED, limiter.cancel(used));
        });
    }
}
