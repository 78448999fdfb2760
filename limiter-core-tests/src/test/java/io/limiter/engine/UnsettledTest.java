package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor.HoldCount;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.internal.HoldTerms;
import io.limiter.internal.config.LimitText;
import io.limiter.kit.Await;
import io.limiter.kit.LogLines;
import io.limiter.kit.Looks;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Settlements that get no answer, or an error, what is counted of them, and under which limits a hold is settled. */
class UnsettledTest {
    private static final PartitionKey KEY = PartitionKey.of("k");
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Policy ONE =
            Policy.of("one", Limit.fixedWindow(100, MINUTE)).withHolds(10);
    private static final Policy TWO = Policy.of("two", Limit.fixedWindow(100, MINUTE), Limit.tokenBucket(200, MINUTE))
            .withHolds(10);

    private final ManualTimer timer = new ManualTimer();
    private final SettlingBackend backend = new SettlingBackend(timer.time);
    private final RateLimiter limiter =
            RateLimiters.builder(backend).timer(timer).build();

    private long count(Policy policy, HoldCount what) {
        return limiter.monitor().holds(policy.name(), what);
    }

    /** Which waiting does not fix, so it is not repeated. */
    @Test
    void anErrorIsAnAnswer() {
        Hold hold = limiter.reserve(ONE, KEY, 10, MINUTE);
        backend.refusal = new BackendException(BackendException.Kind.FAULT, "RL-222 foreign data", null);
        try (LogLines log = new LogLines().ofThreads()) {
            assertEquals(Settlement.ENDED, limiter.settle(hold, 5));
            assertTrue(log.of(Level.WARN, "RL-411").get(0).contains("RL-222 foreign data"), "with the reason");
        }
        assertEquals(0, timer.size());
        assertEquals(1, backend.settled.size());
        assertEquals(1, count(ONE, HoldCount.LOST));
        assertEquals(0, count(ONE, HoldCount.UNKNOWN));
    }

    @Test
    void silenceIsNone() {
        Hold hold = limiter.reserve(TWO, KEY, 10, MINUTE);
        backend.isSilent = true;
        assertEquals(Settlement.PENDING, limiter.settle(hold, 15));
        timer.advance(1_000_000);
        assertEquals(0, count(TWO, HoldCount.ABOVE_ESTIMATE));
        backend.isSilent = false;
        timer.advance(1_000_000);
        assertEquals(85, limiter.tryAcquire(TWO, KEY, 0).remaining());
        assertEquals(1, count(TWO, HoldCount.ABOVE_ESTIMATE), "once for a charge, also in the background");
        assertEquals(0, count(TWO, HoldCount.LOST));
        assertEquals(0, timer.size());
    }

    /** Its answer does not come before the end, so nobody will send it again. */
    @Test
    void whatIsOnItsWayAtTheEndIsLost() {
        Hold hold = limiter.reserve(ONE, KEY, 10, MINUTE);
        backend.isSilent = true;
        limiter.settle(hold, 5);
        backend.isSilent = false;
        backend.holdsBack = true;
        timer.advance(500_000);
        assertEquals(1, backend.heldBack.size(), "it is sent again");
        limiter.close();
        assertEquals(0, count(ONE, HoldCount.LOST));
        backend.answer();
        assertEquals(1, count(ONE, HoldCount.LOST));
        assertEquals(0, timer.size());
    }

    @Test
    void aWorsePartDoesNotHideACostAboveTheEstimate() {
        Hold hold = limiter.reserve(List.of(new Charge(ONE, KEY, 10), new Charge(TWO, KEY, 10)), MINUTE);
        assertEquals(
                Settlement.IGNORED,
                limiter.settle(hold, charge -> charge.policy().equals(ONE) ? -1 : 20));
        assertEquals(0, count(ONE, HoldCount.ABOVE_ESTIMATE));
        assertEquals(1, count(TWO, HoldCount.ABOVE_ESTIMATE));
        limiter.settle(hold, 20);
        assertEquals(1, count(TWO, HoldCount.ABOVE_ESTIMATE), "only what is charged");
    }

    /** The first limit counts calls, which cost one each: of a settlement nothing is charged there. */
    @Test
    void aCostAboveTheEstimateIsCountedBesideCallsInFlight() {
        Policy policy = Policy.of(
                        "three", Limit.concurrent(20), Limit.fixedWindow(100, MINUTE), Limit.tokenBucket(200, MINUTE))
                .withHolds(10);
        assertEquals(Settlement.SETTLED, limiter.settle(limiter.reserve(policy, KEY, 10, MINUTE), 15));
        assertEquals(1, count(policy, HoldCount.ABOVE_ESTIMATE), "once, of the first limit that charges");
        assertEquals(Settlement.SETTLED, limiter.settle(limiter.reserve(policy, KEY, 10, MINUTE), 10));
        assertEquals(1, count(policy, HoldCount.ABOVE_ESTIMATE));
    }

    @Test
    void aHoldThatIsSettledLateHasExpired() {
        Hold late = limiter.reserve(ONE, KEY, 10, MINUTE);
        timer.advance(60_000_000);
        assertEquals(Settlement.SETTLED, limiter.settle(late, 5), "its actual cost is charged");
        assertEquals(1, count(ONE, HoldCount.EXPIRED));
        assertEquals(0, limiter.monitor().held(ONE.name()));
        Hold inTime = limiter.reserve(ONE, KEY, 10, MINUTE);
        timer.advance(59_999_000);
        assertEquals(Settlement.SETTLED, limiter.settle(inTime, 5));
        timer.advance(60_000_000);
        assertEquals(1, count(ONE, HoldCount.EXPIRED), "not the one in time");
        assertEquals(0, limiter.monitor().held(ONE.name()));
        limiter.reserve(ONE, KEY, 10, MINUTE);
        assertEquals(10, limiter.monitor().held(ONE.name()));
        limiter.close();
        assertEquals(0, timer.size(), "nothing keeps the thread of a closed limiter");
    }

    /** The application settles again: nothing is asked, and nothing is logged. */
    @Test
    void aHoldIsSettledOnce() {
        Hold hold = limiter.reserve(ONE, KEY, 10, MINUTE);
        assertThrows(
                IllegalStateException.class,
                () -> limiter.settle(hold, charge -> {
                    throw new IllegalStateException("the application's");
                }));
        assertEquals(Settlement.SETTLED, limiter.settle(hold, 5));
        assertEquals(Settlement.ENDED, limiter.cancel(hold));
        assertEquals(1, backend.settled.size());
        assertEquals(0, count(ONE, HoldCount.UNKNOWN));
    }

    /** The backend has lost it, or its time is over: the line tells which. */
    @Test
    void aFirstSettlementWithoutARecordIsReported() {
        Hold lost = limiter.reserve(ONE, KEY, 10, MINUTE);
        backend.hasLostAll = true;
        try (LogLines log = new LogLines().ofThreads()) {
            assertEquals(Settlement.ENDED, limiter.settle(lost, 5));
            assertTrue(log.of(Level.WARN, "RL-412").get(0).contains("Redis has lost it"));
        }
        assertEquals(1, count(ONE, HoldCount.UNKNOWN));
        backend.hasLostAll = false;
        Hold late = limiter.reserve(ONE, KEY, 10, MINUTE);
        timer.advance(2 * MINUTE.toNanos() / 1_000 + 1_000_000);
        try (LogLines log = new LogLines().ofThreads()) {
            assertEquals(Settlement.ENDED, limiter.settle(late, 5));
            assertTrue(log.of(Level.WARN, "RL-412").get(0).contains("settle sooner"));
        }
        assertEquals(2, count(ONE, HoldCount.UNKNOWN));
    }

    /** The first attempt was done, its answer was lost: what the second one finds ended is settled. */
    @Test
    void whatARepetitionFindsEndedIsSettled() {
        Hold hold = limiter.reserve(ONE, KEY, 10, MINUTE);
        backend.holdsBack = true;
        CompletableFuture<Settlement> settling = limiter.settleAsync(hold, charge -> 15);
        backend.answerAll();
        assertEquals(Settlement.PENDING, settling.join());
        timer.advance(1_000_000);
        assertEquals(2, backend.settled.size());
        assertEquals(1, count(ONE, HoldCount.ABOVE_ESTIMATE));
        assertEquals(0, count(ONE, HoldCount.UNKNOWN));
        assertEquals(0, timer.size());
    }

    /** Also of calls in flight, which no settlement ends. */
    @Test
    void whatIsCancelledWhileItIsAskedHoldsNothing() {
        Policy policy = Policy.of("both", LimitText.parseAll("10000/1m token-bucket, 20 concurrent"))
                .withHolds(10);
        backend.holdsBack = true;
        limiter.reserveAsync(List.of(new Charge(policy, KEY, 50)), MINUTE).cancel(false);
        backend.answerAll();
        Await.until("it is given back", () -> backend.settled.size() == 1);
        assertEquals(0, limiter.monitor().inFlight("both"));
        assertEquals(
                List.of(20L, 10_000L),
                Looks.at(limiter, policy, KEY).outcomes().stream()
                        .map(LimitOutcome::remaining)
                        .toList());
    }

    /** That may be the one timer of all deadlines: where nobody waits the executor answers, else the thread that waits. */
    @Test
    void theThreadThatTellsOfAFailureAnswersNobody() {
        Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        RateLimiter other = RateLimiters.builder(backend).executor(tasks::add).build();
        backend.isDown = true;
        backend.holdsBack = true;
        CompletableFuture<Hold> reserving = other.reserveAsync(List.of(new Charge(ONE, KEY, 10)), MINUTE);
        backend.answer();
        assertEquals(0, other.monitor().failures(BackendException.Kind.UNAVAILABLE));
        while (!tasks.isEmpty()) {
            tasks.remove().run();
        }
        assertEquals(Decision.Source.FAILED_CLOSED, reserving.join().decision().source());
        CompletableFuture<Hold> blocking = CompletableFuture.supplyAsync(() -> other.reserve(ONE, KEY, 10, MINUTE));
        Await.until("it is asked", () -> !backend.heldBack.isEmpty());
        backend.answer();
        Await.until("it is answered, though the executor does nothing", blocking::isDone);
        assertEquals(2, other.monitor().failures(BackendException.Kind.UNAVAILABLE));
    }

    private static Policy bucket(long permits) {
        return of(Limit.tokenBucket(permits, MINUTE));
    }

    private static Policy of(Limit limit) {
        return Policy.of("p", limit).withHolds(100).withFailureMode(FailureMode.DENY);
    }

    private long left(Policy policy) {
        return Looks.left(limiter, policy, KEY);
    }

    /** Also of a tenant whose limits are not announced: larger ones would fill its bucket again. */
    @Test
    void aSettlementIsUnderTheLimitsOfItsReservation() {
        limiter.announce(bucket(1_000));
        Policy lowered = bucket(10);
        Hold hold = limiter.reserve(lowered, KEY, 10, MINUTE);
        timer.time.advance(Duration.ofSeconds(6));
        assertEquals(Settlement.SETTLED, limiter.settle(hold, 10));
        assertEquals(0, left(lowered), "what would have refilled while it was full is lost");
    }

    /** A configuration that lowers them may let the last settlements fill the bucket once more, and no further. */
    @Test
    void afterLowerLimitsNoSettlementLeavesMoreThanThese() {
        Policy before = bucket(1_000);
        Hold hold = limiter.reserve(before, KEY, 10, MINUTE);
        Policy now = bucket(20);
        limiter.announce(now);
        assertEquals(Settlement.SETTLED, limiter.settle(hold, 10));
        assertTrue(left(now) <= 20);
    }

    @Test
    void aDeniedHoldHasNothingToSettle() {
        Policy policy = bucket(10);
        limiter.announce(policy);
        Hold denied = limiter.reserve(policy, KEY, 11, MINUTE);
        assertFalse(denied.allowed());
        assertEquals(Settlement.SETTLED, limiter.settle(denied, 9));
        assertEquals(List.of(), backend.settled);
        assertEquals(10, left(policy));
    }

    @Test
    void whatIsNoReservationIsRefused() {
        Policy policy = bucket(10);
        Charge one = new Charge(policy, KEY, 1);
        assertThrows(IllegalArgumentException.class, () -> limiter.reserve(policy.withHolds(0), KEY, 1, MINUTE));
        assertThrows(IllegalArgumentException.class, () -> limiter.reserve(policy, KEY, 0, MINUTE));
        assertThrows(IllegalArgumentException.class, () -> limiter.reserve(policy, KEY, 1, Duration.ofDays(2)));
        assertThrows(IllegalArgumentException.class, () -> limiter.reserve(List.of(), MINUTE));
        assertThrows(IllegalArgumentException.class, () -> limiter.reserve(List.of(one, one), MINUTE));
        assertThrows(IllegalArgumentException.class, () -> limiter.reserveAsync(List.of(one, one), MINUTE));
        assertEquals(10, left(policy));
    }

    /** Redis has no room for more in its record, and would give back the rest only. */
    @Test
    void noLimitGrantsWhatNoRecordHolds() {
        long most = Integer.MAX_VALUE;
        Policy policy = of(Limit.fixedWindow(most, MINUTE));
        Decision denial = limiter.reserve(policy, KEY, most + 1, MINUTE).decision();
        assertEquals(LimitOutcome.NEVER, denial.violated().get(0).retryAfterMicros());
        Charge notHeld = new Charge(Policy.of("plain", Limit.fixedWindow(1L << 40, MINUTE)), KEY, 1L << 39);
        assertTrue(limiter.reserve(List.of(new Charge(policy, KEY, most), notHeld), MINUTE)
                .allowed());
        Limit larger = Limit.fixedWindow(most + 1, MINUTE);
        assertTrue(assertThrows(IllegalArgumentException.class, () -> of(larger))
                .getMessage()
                .contains("RL-181"));
    }

    @Test
    void idsDiffer() {
        assertEquals(
                1_000,
                IntStream.range(0, 1_000)
                        .mapToObj(i -> HoldTerms.newId())
                        .distinct()
                        .count());
    }
}
