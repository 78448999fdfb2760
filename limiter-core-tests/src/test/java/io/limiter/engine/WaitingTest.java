package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Calls that wait for permits, at a time that the test sets. */
@Timeout(value = 30, threadMode = ThreadMode.SEPARATE_THREAD) // a head that asks without a pause
class WaitingTest {
    /** One permit in 100 ms. */
    private static final Policy STEADY =
            Policy.of("steady", Limit.tokenBucket(10, Duration.ofSeconds(1), 1)).withFailureMode(FailureMode.DENY);

    private static final Policy WINDOW = Policy.of("window", Limit.fixedWindow(2, Duration.ofSeconds(1)));
    private static final PartitionKey KEY = PartitionKey.of("a");
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Policy SLOW = Policy.of("p", Limit.tokenBucket(1, Duration.ofSeconds(10), 1));
    private static final Policy FAST = Policy.of("p", Limit.tokenBucket(10, Duration.ofSeconds(10), 10));
    private static final long STEP = 100_000;

    private final ManualTimer timer = new ManualTimer();
    private final AskedBackend backend = new AskedBackend(Backends.inProcess(timer.time));
    private final List<String> admitted = new ArrayList<>();
    private boolean isExecutorClosed;
    private RateLimiter limiter = limiter(100);

    private RateLimiter limiter(int maxWaiting) {
        return builder(maxWaiting).build();
    }

    private RateLimiters.Builder builder(int maxWaiting) {
        return RateLimiters.builder(backend)
                .fallback(Backends.inProcess(timer.time))
                .executor(task -> {
                    if (isExecutorClosed) {
                        throw new RejectedExecutionException("closed");
                    }
                    task.run();
                })
                .maxWaiting(maxWaiting)
                .timer(timer);
    }

    private CompletableFuture<Decision> ask(Policy policy, Duration wait) {
        return limiter.acquireAsync(PermitRequest.of(policy, KEY, 1).withMaxWait(wait));
    }

    private CompletableFuture<Decision> ask(String name, Policy policy, Duration wait) {
        CompletableFuture<Decision> answer = ask(policy, wait);
        answer.thenAccept(decision -> {
            if (decision.allowed()) {
                admitted.add(name);
            }
        });
        return answer;
    }

    @Test
    void callsAreAdmittedInOrderWhenTheirPermitsAreDue() {
        ask("first", STEADY, SECOND);
        for (int i = 0; i < 8; i++) {
            ask("w" + i, STEADY, SECOND);
        }
        assertEquals(List.of("first"), admitted);
        assertEquals(8, limiter.monitor().waiting());
        for (int i = 0; i < 8; i++) {
            timer.advance(STEP - 1);
            assertEquals(i + 1, admitted.size(), "not before it is due");
            timer.advance(1);
            assertEquals("w" + i, admitted.get(i + 1));
        }
        // Each that waits asks when it is the first, and when its permit is due.
        assertEquals(1 + 2 * 8, backend.asked.size());
        assertEquals(0, limiter.monitor().waiting());
        assertEquals(0, timer.size(), "nothing is left");
    }

    /** Who moves the time on when a call is seen to wait would else do it before the call's turn is known. */
    @Test
    void aCallCountsAsWaitingWhenItsTurnIsInTheTimer() {
        List<Integer> waiting = new ArrayList<>();
        limiter = builder(100)
                .timer(new WaitTimer() {
                    @Override
                    public void execute(Runnable task) {
                        waiting.add(limiter.monitor().waiting());
                    }
                })
                .build();
        ask("first", STEADY, SECOND);
        ask("waits", STEADY, SECOND);
        assertEquals(List.of(0), waiting);
        assertEquals(1, limiter.monitor().waiting());
    }

    /** Nobody gets past those that wait, neither by waiting nor by not waiting. */
    @Test
    void aNewcomerJoinsTheEndWithoutAsking() {
        ask("first", STEADY, SECOND);
        ask("waits", STEADY, SECOND);
        int before = backend.asked.size();
        timer.time.advanceMicros(STEP);
        // The permit is there; the timer has not run yet.
        CompletableFuture<Decision> newcomer = ask("newcomer", STEADY, SECOND);
        Decision atOnce = ask("at once", STEADY, Duration.ZERO).join();
        assertFalse(newcomer.isDone());
        assertFalse(atOnce.allowed());
        assertEquals(Decision.Source.CACHED_DENIAL, atOnce.source());
        assertEquals(List.of(new Charge(STEADY, KEY, 1)), atOnce.charges());
        assertEquals(before, backend.asked.size());
        timer.run();
        assertEquals(List.of("first", "waits"), admitted);
        timer.advance(STEP);
        assertEquals(List.of("first", "waits", "newcomer"), admitted);
    }

    @Test
    void aWaitThatCannotSucceedIsDeniedAtOnce() {
        ask("first", STEADY, SECOND);
        Decision denied = ask("short", STEADY, Duration.ofMillis(99)).join();
        assertEquals(Decision.Source.IN_PROCESS, denied.source());
        assertEquals(STEP, denied.retryAfterMicros());
        for (int i = 0; i < 5; i++) {
            ask("w" + i, STEADY, SECOND);
        }
        // Five are before it.
        Decision tooFarBack = ask("far", STEADY, Duration.ofMillis(599)).join();
        assertEquals(6 * STEP, tooFarBack.retryAfterMicros());
        assertFalse(ask("fits", STEADY, Duration.ofMillis(600)).isDone());
        CompletableFuture<Decision> never = limiter.acquireAsync(
                PermitRequest.of(STEADY, PartitionKey.of("b"), 2).withMaxWait(SECOND));
        assertEquals(LimitOutcome.NEVER, never.join().retryAfterMicros());
        assertEquals(6, limiter.monitor().waiting());
        timer.advance(600_000);
        assertEquals("fits", admitted.get(6));
    }

    @Test
    void aWindowAdmitsAllThatItHasRoomForAtOnce() {
        for (int i = 0; i < 6; i++) {
            ask("w" + i, WINDOW, Duration.ofMillis(2_001));
        }
        // Two windows are spoken for: nobody has a turn in the third within two seconds.
        assertTrue(ask("third window", WINDOW, Duration.ofMillis(2_999)).isDone());
        timer.advance(1_000_000);
        assertEquals(List.of("w0", "w1", "w2", "w3"), admitted);
        timer.advance(1_000_000);
        assertEquals(6, admitted.size());
    }

    @Test
    void theNumberOfThoseThatWaitIsBounded() {
        limiter = limiter(20);
        int waiting = 0;
        for (int key = 0; key < 30; key++) {
            for (int i = 0; i < 5; i++) {
                PartitionKey one = PartitionKey.of("k" + key);
                waiting += limiter.acquireAsync(PermitRequest.of(STEADY, one, 1).withMaxWait(SECOND))
                                .isDone()
                        ? 0
                        : 1;
            }
        }
        // Two for a key, and ten keys.
        assertEquals(20, waiting);
        assertEquals(20, limiter.monitor().waiting());
        timer.advance(1_000_000);
        assertEquals(0, limiter.monitor().waiting());
        assertEquals(0, timer.size());
    }

    @Test
    void aCancelledCallLeavesTheQueueAndTheNextTakesItsTurn() {
        ask("first", STEADY, SECOND);
        CompletableFuture<Decision> head = ask("head", STEADY, SECOND);
        CompletableFuture<Decision> second = ask("second", STEADY, SECOND);
        ask("third", STEADY, SECOND);
        second.cancel(false);
        head.cancel(false);
        assertEquals(1, limiter.monitor().waiting());
        timer.advance(STEP);
        assertEquals(List.of("first", "third"), admitted);
        assertEquals(List.of(), backend.refunded);
    }

    /** A head whose permit is taken at the moment when it is cancelled gives it back, and the next one gets it. */
    @Test
    void thePermitOfACancelledCallIsGivenBack() {
        ask("first", STEADY, SECOND);
        CompletableFuture<Decision> head = ask("head", STEADY, SECOND);
        ask("next", STEADY, SECOND);
        backend.holdsBack = true;
        timer.advance(STEP);
        head.cancel(false);
        backend.answerAll();
        timer.run();
        assertEquals(List.of("first", "next"), admitted);
        assertEquals(1, backend.refunded.size());
        assertEquals(0, Looks.left(limiter, STEADY, KEY));
    }

    @Test
    void aCancelledCallThatHasNotWaitedGivesItsPermitBack() {
        backend.holdsBack = true;
        CompletableFuture<Decision> answer = ask("cancelled", STEADY, SECOND);
        answer.cancel(false);
        backend.answerAll();
        assertEquals(1, Looks.left(limiter, STEADY, KEY));
    }

    /** A cheap call behind an expensive one that leaves asks at once. */
    @Test
    void aCheaperCallDoesNotInheritALongWait() {
        Policy bucket = Policy.of("bucket", Limit.tokenBucket(10, Duration.ofSeconds(10), 10));
        assertTrue(limiter.tryAcquire(bucket, KEY, 5).allowed());
        CompletableFuture<Decision> expensive =
                limiter.acquireAsync(PermitRequest.of(bucket, KEY, 10).withMaxWait(Duration.ofSeconds(20)));
        CompletableFuture<Decision> cheap =
                limiter.acquireAsync(PermitRequest.of(bucket, KEY, 1).withMaxWait(Duration.ofSeconds(20)));
        timer.advance(1_000_000);
        assertFalse(cheap.isDone(), "first come, first served");
        expensive.cancel(false);
        timer.run();
        assertTrue(cheap.join().allowed());
    }

    /** A queued call waits at one limit, and where another one denies it, it goes to the end there. */
    @Test
    void aCallMovesToTheQueueOfTheLimitThatDeniesIt() {
        Charge steady = new Charge(STEADY, KEY, 1);
        Charge window = new Charge(WINDOW, KEY, 2);
        ask("first", STEADY, SECOND);
        CompletableFuture<Decision> both =
                limiter.acquireAsync(PermitRequest.of(List.of(steady, window)).withMaxWait(Duration.ofSeconds(5)));
        ask("steady", STEADY, SECOND);
        assertTrue(limiter.tryAcquire(WINDOW, KEY, 1).allowed());
        CompletableFuture<Decision> before =
                limiter.acquireAsync(PermitRequest.of(WINDOW, KEY, 2).withMaxWait(Duration.ofSeconds(5)));
        timer.advance(STEP);
        // The window denies it; the call behind it has its turn at once.
        assertEquals(List.of("first", "steady"), admitted);
        assertFalse(both.isDone());
        timer.advance(900_000);
        assertTrue(before.join().allowed());
        assertFalse(both.isDone());
        timer.advance(1_000_000);
        assertTrue(both.join().allowed());
        assertEquals(0, limiter.monitor().waiting());
    }

    @Test
    void ofSeveralChargesThatAreDeniedTheShortestWaitCounts() {
        Charge steady = new Charge(STEADY, KEY, 1);
        Charge window = new Charge(WINDOW, KEY, 2);
        limiter.tryAcquire(PermitRequest.of(List.of(steady, window)));
        Decision denied = limiter.acquireAsync(PermitRequest.of(List.of(steady, window))
                        .withMaxWait(
                                charge -> charge.policy().name().equals("steady") ? Duration.ofMillis(200) : SECOND))
                .join();
        assertEquals(2, denied.violated().size());
        timer.advance(STEP);
        // Now the window alone denies.
        assertFalse(limiter.acquireAsync(PermitRequest.of(List.of(steady, window))
                        .withMaxWait(charge -> charge.policy().name().equals("steady") ? Duration.ZERO : SECOND))
                .isDone());
    }

    @Test
    void theWaitOfWhatDeniesItNowCounts() {
        List<Charge> both = List.of(new Charge(STEADY, KEY, 1), new Charge(WINDOW, KEY, 2));
        limiter.tryAcquire(PermitRequest.of(both));
        CompletableFuture<Decision> waits = limiter.acquireAsync(PermitRequest.of(both)
                .withMaxWait(
                        charge -> charge.policy().equals(WINDOW) ? Duration.ofSeconds(3) : Duration.ofMillis(1_500)));
        timer.time.advanceMicros(1_000_000);
        // Another instance is faster. Now the window alone denies.
        backend.decide(both.subList(1, 2), Backend.Mode.TAKE);
        timer.run();
        timer.advance(999_999);
        assertFalse(waits.isDone());
        timer.advance(1);
        assertTrue(waits.isDone() && waits.join().allowed());
        assertEquals(0, timer.size());
    }

    @ParameterizedTest
    @CsvSource({"ALLOW, false", "DENY, false", "LOCAL, false", "DENY, true"})
    void theFailureModeAnswersThoseThatWait(FailureMode mode, boolean isError) {
        Policy policy = STEADY.withFailureMode(mode);
        List<CompletableFuture<Decision>> answers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            answers.add(ask("w" + i, policy, Duration.ofSeconds(2)));
        }
        assertEquals(9, limiter.monitor().waiting());
        backend.outage = isError ? new NoClassDefFoundError("on purpose") : backend.outage;
        backend.isDown = true;
        timer.advance(2_000_000);
        assertEquals(0, limiter.monitor().waiting());
        for (CompletableFuture<Decision> answer : answers.subList(1, 10)) {
            assertEquals(mode != FailureMode.DENY, answer.join().allowed());
            assertEquals(
                    switch (mode) {
                        case ALLOW -> Decision.Source.FAILED_OPEN;
                        case DENY -> Decision.Source.FAILED_CLOSED;
                        case LOCAL -> Decision.Source.LOCAL_FALLBACK;
                    },
                    answer.join().source());
        }
    }

    @Test
    void onCloseAllAreDeniedAndNobodyWaitsAnyMore() {
        ask("first", STEADY, SECOND);
        List<CompletableFuture<Decision>> answers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            answers.add(ask("w" + i, STEADY, SECOND));
        }
        backend.holdsBack = true;
        timer.advance(STEP);
        limiter.close();
        assertFalse(answers.get(0).isDone(), "it has asked, and gets its answer");
        backend.answer();
        timer.run();
        assertTrue(answers.get(0).join().allowed());
        for (CompletableFuture<Decision> answer : answers.subList(1, 5)) {
            assertFalse(answer.join().allowed());
        }
        assertEquals(0, limiter.monitor().waiting());
        assertEquals(0, timer.size());
    }

    @Test
    void aNewPolicyOfTheNameHoldsForThoseThatWait() {
        limiter.announce(SLOW);
        ask("first", SLOW, SECOND);
        CompletableFuture<Decision> one = ask("one", SLOW, Duration.ofSeconds(30));
        CompletableFuture<Decision> other = ask("other", SLOW, Duration.ofSeconds(30));
        limiter.announce(SLOW);
        timer.advance(5_000_000);
        assertFalse(one.isDone());
        limiter.announce(FAST);
        timer.run();
        assertEquals(FAST, backend.asked.get(backend.asked.size() - 1).get(0).policy(), "asked at once");
        timer.advance(1_000_000);
        assertTrue(one.isDone() && one.join().allowed());
        timer.advance(1_000_000);
        assertTrue(other.isDone() && other.join().allowed());
    }

    @Test
    void aCallIsCountedOnce() {
        for (int i = 0; i < 5; i++) {
            ask("w" + i, STEADY, Duration.ofMillis(300));
        }
        ask("cancelled", STEADY, SECOND).cancel(false);
        timer.advance(1_000_000);
        LimiterMonitor counters = limiter.monitor();
        assertEquals(4, counters.allowed("steady", Decision.Source.IN_PROCESS));
        assertEquals(0, counters.denied("steady", Decision.Source.IN_PROCESS));
        assertEquals(1, counters.denied("steady", Decision.Source.CACHED_DENIAL));
    }

    @Test
    void aResetOrARefundLetsTheFirstAskAtOnce() {
        Decision first = ask(SLOW, SECOND).join();
        CompletableFuture<Decision> one = ask(SLOW, Duration.ofSeconds(25));
        CompletableFuture<Decision> two = ask(SLOW, Duration.ofSeconds(25));
        limiter.refund(first);
        timer.run();
        assertTrue(one.join().allowed());
        assertFalse(two.isDone());
        limiter.reset(SLOW, PartitionKey.of("other"));
        limiter.reset(Policy.of("other", Limit.fixedWindow(1, SECOND)), KEY);
        timer.run();
        assertFalse(two.isDone());
        limiter.reset(SLOW, KEY);
        timer.run();
        assertTrue(two.join().allowed());
    }

    @Test
    void theWaitOfEachChargeIsAskedForOnceAlsoWhereAShareDecides() {
        limiter = builder(100).instances(2).build();
        backend.isDown = true;
        List<String> askedFor = new ArrayList<>();
        Charge charge = new Charge(FAST, KEY, 5);
        assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(charge))).allowed());
        CompletableFuture<Decision> waits =
                limiter.acquireAsync(PermitRequest.of(List.of(charge)).withMaxWait(asked -> {
                    askedFor.add(asked.policy().name());
                    return Duration.ofSeconds(15);
                }));
        assertFalse(waits.isDone());
        timer.advance(10_000_000);
        assertEquals(Decision.Source.LOCAL_FALLBACK, waits.join().source());
        assertTrue(waits.join().allowed());
        assertEquals(List.of("p"), askedFor);
    }

    @Test
    void nobodyBeginsToWaitAfterTheClose() {
        ask(SLOW, SECOND);
        CompletableFuture<Decision> head = ask(SLOW, Duration.ofSeconds(25));
        timer.time.advanceMicros(10_000_000);
        // Another instance is faster. The head and a newcomer have asked, and get their denials after the close.
        backend.decide(List.of(new Charge(SLOW, KEY, 1)), Backend.Mode.TAKE);
        backend.holdsBack = true;
        timer.run();
        PartitionKey other = PartitionKey.of("b");
        limiter.acquireAsync(PermitRequest.of(SLOW, other, 1).withMaxWait(SECOND));
        CompletableFuture<Decision> newcomer =
                limiter.acquireAsync(PermitRequest.of(SLOW, other, 1).withMaxWait(Duration.ofSeconds(25)));
        assertEquals(3, backend.heldBack.size());
        limiter.close();
        assertFalse(head.isDone() || newcomer.isDone());
        assertDenied(ask(SLOW, Duration.ofSeconds(25)));
        backend.answer();
        timer.run();
        assertDenied(head);
        assertDenied(newcomer);
        backend.holdsBack = false;
        assertDenied(limiter.acquireAsync(PermitRequest.of(SLOW, other, 1).withMaxWait(Duration.ofSeconds(25))));
        assertEquals(0, limiter.monitor().waiting());
        assertEquals(0, timer.size());
    }

    /** Not by join: a call that waits for ever must fail the test, not hang it. */
    private static void assertDenied(CompletableFuture<Decision> answer) {
        assertTrue(answer.isDone(), "it waits");
        assertFalse(answer.join().allowed());
    }

    /** The new policy may not be able to keep an id, and then the retry of an answered call would be charged again. */
    @Test
    void aCallWithARequestIdKeepsItsPolicyAndAMemberItsName() {
        Policy logged = Policy.of("log", Limit.slidingZset(1, Duration.ofSeconds(10)));
        Policy members = Policy.of("members", Limit.distinct(5, Duration.ofSeconds(10)));
        Policy moreMembers = Policy.of("members", Limit.distinct(6, Duration.ofSeconds(10)));
        PartitionKey member = PartitionKey.of("member");
        Charge identified = new Charge(logged, KEY, 1, "id");
        List<Charge> charges = List.of(new Charge(SLOW, KEY, 1), identified, new Charge(members, KEY, 1, null, member));
        limiter.tryAcquire(SLOW, KEY, 1);
        CompletableFuture<Decision> waits = limiter.acquireAsync(PermitRequest.of(charges)
                .withMaxWait(charge -> charge.policy().equals(SLOW) ? Duration.ofSeconds(25) : Duration.ZERO));
        assertFalse(waits.isDone());
        limiter.announce(Policy.of("log", Limit.tokenBucket(1, Duration.ofSeconds(10), 1)));
        timer.run();
        assertEquals(charges, backend.asked.get(backend.asked.size() - 1));
        limiter.announce(moreMembers);
        limiter.announce(FAST);
        timer.run();
        assertEquals(
                List.of(new Charge(FAST, KEY, 1), identified, new Charge(moreMembers, KEY, 1, null, member)),
                backend.asked.get(backend.asked.size() - 1));
        timer.advance(10_000_000);
        assertTrue(waits.join().allowed());
        assertTrue(
                limiter.tryAcquire(PermitRequest.of(List.of(identified))).allowed(),
                "the retry of a call that was allowed");
    }

    /** One client must not fill the places of all others. */
    @Test
    void oneKeyHasATenthOfThePlacesAndAtLeastOne() {
        for (int maxWaiting : new int[] {1, 5, 20, 59}) {
            try (RateLimiter small = RateLimiters.builder(new AskedBackend(Backends.inProcess(timer.time)))
                    .executor(Runnable::run)
                    .maxWaiting(maxWaiting)
                    .timer(timer)
                    .build()) {
                for (int i = 0; i < 9; i++) {
                    small.acquireAsync(PermitRequest.of(FAST, KEY, 10).withMaxWait(Duration.ofSeconds(1 + 10 * i)));
                }
                assertEquals(Math.max(1, maxWaiting / 10), small.monitor().waiting(), "of " + maxWaiting);
            }
        }
    }

    @Test
    void callsAreAnsweredByAClosedExecutorToo() {
        ask(SLOW, SECOND);
        CompletableFuture<Decision> admitted = ask(SLOW, Duration.ofSeconds(10));
        CompletableFuture<Decision> denied = ask(SLOW, Duration.ofSeconds(20));
        isExecutorClosed = true;
        timer.advance(10_000_000);
        assertTrue(admitted.join().allowed());
        limiter.close();
        assertFalse(denied.join().allowed());
        assertEquals(0, limiter.monitor().waiting());
    }

    @Test
    void aCallWaitsForTheTurnOfTheCalendar() {
        Policy aligned =
                Policy.of("aligned", Limit.fixedWindow(2, Duration.ofMinutes(1)).withZone(ZoneOffset.UTC));
        long toTurn = 60_000_000 - timer.time.nowMicros() % 60_000_000;
        List<CompletableFuture<Decision>> calls = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            calls.add(ask(aligned, Duration.ofMinutes(1)));
        }
        timer.advance(toTurn - 1);
        assertFalse(calls.remove(4).join().allowed(), "its turn is the one after the next");
        assertEquals(
                List.of(true, true, false, false),
                calls.stream().map(CompletableFuture::isDone).toList());
        timer.advance(1);
        assertEquals(
                List.of(true, true, true, true),
                calls.stream().map(CompletableFuture::isDone).toList());
        assertTrue(calls.stream().allMatch(call -> call.join().allowed()));
    }

    @Test
    void aWaitIsAtMostADay() {
        assertThrows(IllegalArgumentException.class, () -> ask(SLOW, Duration.ofMillis(-1)));
        assertThrows(IllegalArgumentException.class, () -> ask(SLOW, Duration.ofHours(25)));
        assertThrows(
                IllegalArgumentException.class,
                () -> RateLimiters.builder(backend).maxWaiting(0));
        assertEquals(0, backend.asked.size());
    }
}
