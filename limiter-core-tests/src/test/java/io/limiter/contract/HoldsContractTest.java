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
import io.limiter.LimitOutcome.DenialReason;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.TestedBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Reservations: what they take, what comes back, and what a settlement charges, by each algorithm in each backend. */
class HoldsContractTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration SECONDS = Duration.ofSeconds(20);

    private static final List<Limit> LIMITS =
            List.of(Limit.fixedWindow(1_000, MINUTE), Limit.tokenBucket(1_000, MINUTE));

    static Stream<Arguments> all() {
        return backends().flatMap(backend -> LIMITS.stream().map(limit -> Arguments.of(backend, limit)));
    }

    static Stream<TestedBackend> backends() {
        return Backends.all().stream();
    }

    /** A limiter of one limit, in which the time is set. */
    private record Stage(RateLimiter limiter, ManualTime time, Policy policy) {
        Hold reserve(long permits) {
            return limiter.reserve(policy, KEY, permits, SECONDS);
        }

        long left() {
            return Looks.left(limiter, policy, KEY);
        }

        boolean takes(long permits) {
            return limiter.tryAcquire(policy, KEY, permits).allowed();
        }
    }

    private static void on(TestedBackend tested, Limit limit, BiConsumer<Stage, ManualTime> test) {
        on(tested, Policy.of("holds", limit).withHolds(100).withFailureMode(FailureMode.DENY), test);
    }

    private static void on(TestedBackend tested, Policy policy, BiConsumer<Stage, ManualTime> test) {
        ManualTime time = new ManualTime();
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            test.accept(new Stage(limiter, time, policy), time);
        }
    }

    private static boolean isBucket(Limit limit) {
        return limit.equals(LIMITS.get(1));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("all")
    void whatWasNotUsedComesBackAtOnce(TestedBackend tested, Limit limit) {
        on(tested, limit, (stage, time) -> {
            Hold hold = stage.reserve(600);
            assertTrue(hold.allowed());
            assertEquals(400, stage.left());
            assertFalse(stage.takes(401));
            assertFalse(stage.reserve(401).allowed());
            time.advance(Duration.ofSeconds(3));
            assertEquals(400, stage.left(), "held");
            assertEquals(Settlement.SETTLED, stage.limiter.settle(hold, 100));
            // A bucket was full, so nothing has refilled.
            assertEquals(900, stage.left());
            assertEquals(Settlement.ENDED, stage.limiter.settle(hold, 0), "once only");
            assertEquals(Settlement.ENDED, stage.limiter.settle(hold, 900));
            assertEquals(900, stage.left());
        });
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("all")
    void theEstimateStaysAndTheExcessIsCharged(TestedBackend tested, Limit limit) {
        on(tested, limit, (stage, time) -> {
            Hold exact = stage.reserve(300);
            Hold more = stage.reserve(300);
            assertEquals(Settlement.SETTLED, stage.limiter.settle(exact, 300));
            assertEquals(400, stage.left());
            assertEquals(Settlement.SETTLED, stage.limiter.settle(more, 900));
            assertEquals(0, stage.left(), "never below 0");
            assertFalse(stage.takes(1));
            Decision denied = stage.limiter.tryAcquire(stage.policy, KEY, 1);
            // 1 200 of 1 000 are used. A bucket has refilled 1 of them when the debt is paid.
            assertEquals(isBucket(limit) ? 12_060_000 : 60_000_000, denied.retryAfterMicros());
            time.advanceMicros(denied.retryAfterMicros() - 1);
            assertFalse(stage.takes(1));
            time.advanceMicros(1);
            assertTrue(stage.takes(1));
        });
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("all")
    void aDebtIsAtMostTheCapacity(TestedBackend tested, Limit limit) {
        on(tested, limit, (stage, time) -> {
            Hold hold = stage.reserve(1);
            assertEquals(Settlement.SETTLED, stage.limiter.settle(hold, Integer.MAX_VALUE));
            time.advance(MINUTE);
            assertTrue(stage.takes(isBucket(limit) ? 1 : 1_000) || isBucket(limit));
            time.advance(MINUTE);
            Hold next = stage.reserve(600);
            assertEquals(Settlement.IGNORED, stage.limiter.settle(next, 1L << 31));
            assertEquals(Settlement.ENDED, stage.limiter.settle(next, -1));
            assertEquals(400, stage.left());
        });
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("all")
    void aCancelledHoldIsAsIfItHadNeverBeen(TestedBackend tested, Limit limit) {
        on(tested, limit, (stage, time) -> {
            assertTrue(stage.takes(100));
            Hold hold = stage.reserve(600);
            time.advance(Duration.ofSeconds(6));
            assertEquals(Settlement.SETTLED, stage.limiter.cancel(hold));
            assertEquals(isBucket(limit) ? 1_000 : 900, stage.left());
        });
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("all")
    void itComesBackByItselfAndALateSettlementIsCharged(TestedBackend tested, Limit limit) {
        on(tested, limit, (stage, time) -> {
            Hold hold = stage.reserve(600);
            stage.reserve(400);
            assertEquals(0, stage.left());
            time.advance(SECONDS.minusNanos(1_000));
            assertFalse(stage.takes(1));
            time.advanceMicros(1);
            assertEquals(0, stage.left(), "until a call finds it");
            assertTrue(stage.takes(1_000));
            assertEquals(Settlement.SETTLED, stage.limiter.settle(hold, 100));
            assertEquals(0, stage.left());
            assertEquals(Settlement.ENDED, stage.limiter.settle(hold, 100));
            // 1 100 of 1 000 are used.
            time.advance(Duration.ofSeconds(isBucket(limit) ? 6 : 40));
            assertFalse(stage.takes(1));
        });
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("all")
    void aResetEndsHolds(TestedBackend tested, Limit limit) {
        on(tested, limit, (stage, time) -> {
            Hold hold = stage.reserve(600);
            Hold other = stage.reserve(100);
            stage.limiter.reset(stage.policy, KEY);
            assertEquals(1_000, stage.left());
            assertEquals(Settlement.ENDED, stage.limiter.settle(hold, 200));
            assertEquals(Settlement.ENDED, stage.limiter.cancel(other));
            assertEquals(1_000, stage.left(), "nothing is charged, and nothing comes back");
            assertTrue(stage.takes(1_000));
            time.advance(SECONDS);
            assertFalse(stage.takes(1_000), "nothing comes back later");
        });
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("all")
    void aFullTableDenies(TestedBackend tested, Limit limit) {
        Policy policy = Policy.of("full", limit).withHolds(3).withFailureMode(FailureMode.DENY);
        on(tested, policy, (stage, time) -> {
            List<Hold> holds = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                holds.add(stage.reserve(1));
                time.advance(Duration.ofSeconds(1));
            }
            Decision denied = stage.reserve(1).decision();
            assertFalse(denied.allowed());
            assertEquals(DenialReason.HOLDS_FULL, denied.violated().get(0).reason());
            // The first record ends a minute after its hold, which has lasted 3 seconds.
            assertEquals(77_000_000, denied.retryAfterMicros());
            assertTrue(stage.takes(1), "other calls go on");
            stage.limiter.cancel(holds.get(0));
            assertTrue(stage.reserve(1).allowed(), "the record is gone");
            assertFalse(stage.reserve(1).allowed());
            time.advance(SECONDS);
            assertFalse(stage.reserve(1).allowed(), "what has run out is kept");
            time.advanceMicros(57_999_999);
            assertFalse(stage.reserve(1).allowed());
            time.advanceMicros(1);
            assertTrue(stage.reserve(1).allowed());
        });
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void severalLimitsAndChargesAllOrNothing(TestedBackend tested) {
        Policy tokens = Policy.of("tokens", LIMITS).withHolds(50).withFailureMode(FailureMode.DENY);
        Policy calls =
                Policy.of("calls", Limit.fixedWindow(2, MINUTE)).withHolds(50).withFailureMode(FailureMode.DENY);
        on(tested, tokens, (stage, time) -> {
            List<Charge> both = List.of(new Charge(tokens, KEY, 400), new Charge(calls, PartitionKey.of("b"), 1));
            Hold first = stage.limiter.reserve(both, SECONDS);
            Hold second = stage.limiter.reserve(both, SECONDS);
            assertTrue(first.allowed() && second.allowed());
            assertEquals(3, first.decision().outcomes().size());
            assertFalse(stage.limiter.reserve(both, SECONDS).allowed());
            assertEquals(List.of(200L, 200L), lefts(stage));
            assertEquals(
                    Settlement.SETTLED,
                    stage.limiter.settle(first, charge -> charge.policy().equals(tokens) ? 500 : 0));
            assertEquals(List.of(100L, 100L), lefts(stage));
            Hold third = stage.limiter.reserve(List.of(new Charge(tokens, KEY, 100), both.get(1)), SECONDS);
            assertTrue(third.allowed());
            time.advance(SECONDS.plusMillis(1));
            assertEquals(Settlement.ENDED, stage.limiter.cancel(first));
        });
    }

    private static List<Long> lefts(Stage stage) {
        return Looks.at(stage.limiter, stage.policy, KEY).outcomes().stream()
                .map(LimitOutcome::remaining)
                .toList();
    }

    /** The case in which a refund would give nothing back, because the bucket has refilled. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void aBucketThatIsCancelledLateMintsNothing(TestedBackend tested) {
        on(tested, LIMITS.get(1), (stage, time) -> {
            assertTrue(stage.takes(400));
            Hold hold = stage.reserve(600);
            Decision denied = stage.limiter.tryAcquire(stage.policy, KEY, 401);
            assertEquals(24_060_000, denied.retryAfterMicros(), "after the hold's end 24 s - 20 s are needed");
            time.advance(Duration.ofSeconds(19));
            assertEquals(316, stage.left());
            assertEquals(Settlement.SETTLED, stage.limiter.cancel(hold));
            assertEquals(916, stage.left());
            time.advance(Duration.ofSeconds(6));
            assertEquals(1_000, stage.left());
        });
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void whatIsNoReservationIsRefused(TestedBackend tested) {
        on(tested, LIMITS.get(0), (stage, time) -> {
            Policy none = Policy.of("none", LIMITS.get(0));
            assertThrows(IllegalArgumentException.class, () -> stage.limiter.reserve(none, KEY, 1, SECONDS));
            assertThrows(IllegalArgumentException.class, () -> stage.reserve(0));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> stage.limiter.reserve(stage.policy, KEY, 1, Duration.ofDays(2)));
            Hold never = stage.reserve(1_001);
            assertEquals(LimitOutcome.NEVER, never.decision().retryAfterMicros());
            assertFalse(stage.limiter.refund(stage.reserve(1).decision()), "it is settled instead");
        });
    }

    /** As many records as need several pages. */
    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("all")
    void manyReservationsOfOneKey(TestedBackend tested, Limit limit) {
        Policy policy = Policy.of("many", limit).withHolds(300).withFailureMode(FailureMode.DENY);
        on(tested, policy, (stage, time) -> {
            List<Hold> holds = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                holds.add(stage.reserve(2));
                time.advance(Duration.ofMillis(i % 3 == 0 ? 0 : 1));
            }
            assertTrue(holds.stream().allMatch(Hold::allowed));
            long before = stage.left();
            // A bucket has refilled a little meanwhile, at most what 200 ms bring.
            assertTrue(before >= 400 && before <= 404, "left: " + before);
            Hold full = stage.reserve(1);
            assertEquals(
                    DenialReason.HOLDS_FULL, full.decision().violated().get(0).reason());
            for (int i = 0; i < 300; i += 2) {
                assertEquals(Settlement.SETTLED, stage.limiter.settle(holds.get(i), i % 4 == 0 ? 0 : 2), "hold " + i);
            }
            assertEquals(Settlement.ENDED, stage.limiter.cancel(holds.get(100)));
            assertTrue(stage.left() >= before + 150 && stage.left() <= before + 154, "left: " + stage.left());
            time.advance(SECONDS);
            for (int i = 0; i < 3; i++) {
                assertTrue(stage.takes(1), "each call gives back 50");
            }
            assertTrue(stage.left() >= before + 447, "all others have run out: " + stage.left());
            assertEquals(Settlement.SETTLED, stage.limiter.settle(holds.get(1), 5), "late");
            assertTrue(stage.takes(1));
        });
    }
}
