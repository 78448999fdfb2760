package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Looks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Calls that wait for permits, at a time that the test sets. */
@Timeout(value = 30, threadMode = ThreadMode.SEPARATE_THREAD) // a head that asks without a pause
class WaitingTest {
    /** One permit in 100 ms. */
    private static final Policy STEADY =
            Policy.of("steady", Limit.tokenBucket(10, Duration.ofSeconds(1), 1)).withFailureMode(FailureMode.DENY);

    private static final Policy WINDOW = Policy.of("window", Limit.fixedWindow(2, Duration.ofSeconds(1)));
    private static final PartitionKey KEY = PartitionKey.of("a");
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final long STEP = 100_000;

    private final ManualTimer timer = new ManualTimer();
    private final AskedBackend backend =
            new AskedBackend(InProcessBackend.builder().timeSource(timer.time).build());
    private final List<String> admitted = new ArrayList<>();
    private RateLimiter limiter = limiter(100);

    private RateLimiter limiter(int maxWaiting) {
        return RateLimiters.builder(backend)
                .fallback(InProcessBackend.builder().timeSource(timer.time).build())
                .executor(Runnable::run)
                .maxWaiting(maxWaiting)
                .timer(timer)
                .build();
    }

    private CompletableFuture<Decision> ask(String name, Policy policy, Duration wait) {
        CompletableFuture<Decision> answer =
                limiter.acquireAsync(PermitRequest.of(policy, KEY, 1).withMaxWait(wait));
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
        // The first one that waits has asked twice, all others once.
        assertEquals(1 + 2 + 7, backend.asked.size());
        assertEquals(0, limiter.monitor().waiting());
        assertEquals(0, timer.size(), "nothing is left");
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
        backend.holdsBack = false;
        backend.answer();
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
        backend.answer();
        backend.holdsBack = false;
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

    @ParameterizedTest
    @EnumSource
    void theFailureModeAnswersThoseThatWait(FailureMode mode) {
        Policy policy = STEADY.withFailureMode(mode);
        List<CompletableFuture<Decision>> answers = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            answers.add(ask("w" + i, policy, Duration.ofSeconds(2)));
        }
        assertEquals(9, limiter.monitor().waiting());
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
        Policy slow = Policy.of("p", Limit.tokenBucket(1, Duration.ofSeconds(10), 1));
        Policy fast = Policy.of("p", Limit.tokenBucket(10, Duration.ofSeconds(10), 10));
        limiter.announce(slow);
        ask("first", slow, SECOND);
        CompletableFuture<Decision> one = ask("one", slow, Duration.ofSeconds(30));
        CompletableFuture<Decision> other = ask("other", slow, Duration.ofSeconds(30));
        limiter.announce(slow);
        timer.advance(5_000_000);
        assertFalse(one.isDone());
        limiter.announce(fast);
        timer.run();
        assertEquals(fast, backend.asked.get(backend.asked.size() - 1).get(0).policy(), "asked at once");
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
}
