package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Backends;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that ask or wait while their policy is replaced or removed, or while quota comes back, at a time that the test sets. */
@Timeout(value = 30, threadMode = ThreadMode.SEPARATE_THREAD) // a head that asks without a pause
class WaitingThroughChangesTest {
    private static final PartitionKey KEY = PartitionKey.of("a");
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Policy SLOW = Policy.of("p", Limit.tokenBucket(1, Duration.ofSeconds(10), 1));
    private static final Policy FAST = Policy.of("p", Limit.tokenBucket(10, Duration.ofSeconds(10), 10));

    private final ManualTimer timer = new ManualTimer();
    private final AskedBackend backend = new AskedBackend(Backends.inProcess(timer.time));
    private final RateLimiter limiter = RateLimiters.builder(backend)
            .fallback(Backends.inProcess(timer.time))
            .executor(Runnable::run)
            .timer(timer)
            .build();

    private CompletableFuture<Decision> ask(Policy policy, Duration wait) {
        return limiter.acquireAsync(PermitRequest.of(policy, KEY, 1).withMaxWait(wait));
    }

    /** The answer under the earlier policy is not valid for the new one. */
    @Test
    void aPolicyThatIsReplacedDuringAQuestionIsAskedAtOnce() {
        limiter.announce(SLOW);
        ask(SLOW, SECOND);
        CompletableFuture<Decision> waits = ask(SLOW, Duration.ofSeconds(30));
        ask(SLOW, Duration.ofSeconds(30));
        backend.holdsBack = true;
        timer.advance(10_000_000);
        limiter.announce(FAST);
        backend.answerAll();
        timer.run();
        assertTrue(waits.join().allowed());
        assertEquals(FAST, backend.asked.get(backend.asked.size() - 1).get(0).policy());
    }

    @Test
    void aPolicyThatIsReplacedDuringTheFirstQuestionIsWaitedForInstead() {
        limiter.announce(SLOW);
        ask(SLOW, SECOND);
        backend.holdsBack = true;
        CompletableFuture<Decision> waits = ask(SLOW, Duration.ofSeconds(30));
        limiter.announce(FAST);
        backend.answerAll();
        timer.run();
        assertFalse(waits.isDone());
        timer.advance(1_000_000);
        assertTrue(waits.isDone() && waits.join().allowed());
        assertEquals(FAST, backend.asked.get(backend.asked.size() - 1).get(0).policy());
    }

    /** A new policy is in force, whatever asks under the earlier one. */
    @Test
    void aChargeThatDoesNotFitTheNewPolicyKeepsItsOwn() {
        limiter.announce(FAST);
        backend.holdsBack = true;
        CompletableFuture<Decision> asks =
                limiter.acquireAsync(PermitRequest.of(FAST, KEY, 2).withMaxWait(SECOND));
        limiter.announce(Policy.of("p", Limit.distinct(5, Duration.ofSeconds(10))));
        backend.answer();
        assertTrue(asks.join().allowed());
    }

    /** A tenant has its own limits under the name of its plan, and each new configuration announces all plans. */
    @Test
    void whoWaitsUnderLimitsOfItsOwnKeepsThem() {
        Policy tenant = FAST.withLimits(SLOW.limits());
        limiter.announce(FAST);
        ask(tenant, SECOND);
        CompletableFuture<Decision> waits = ask(tenant, Duration.ofSeconds(30));
        limiter.announce(FAST);
        timer.advance(1_000_000);
        assertFalse(waits.isDone());
        timer.advance(9_000_000);
        assertTrue(waits.join().allowed());
    }

    @Test
    void whoWaitsBeginsNoCallInFlightThatNobodyEnds() {
        limiter.announce(SLOW);
        ask(SLOW, SECOND);
        CompletableFuture<Decision> waits = ask(SLOW, Duration.ofSeconds(30));
        limiter.announce(Policy.of("p", Limit.concurrent(1, SECOND)));
        timer.advance(10_000_000);
        assertEquals(
                List.of(SLOW.limits().get(0)),
                List.of(waits.join().outcomes().get(0).limit()));
    }

    /** Nothing decides under a policy that is gone, and nobody waits for it until the end of the wait. */
    @Test
    void callsThatWaitForAPolicyThatIsRemovedAreDeniedAtOnce() {
        Policy other = Policy.of("q", Limit.tokenBucket(1, Duration.ofSeconds(10), 1));
        ask(SLOW, SECOND);
        ask(other, SECOND);
        List<CompletableFuture<Decision>> under =
                List.of(ask(SLOW, Duration.ofSeconds(30)), ask(SLOW, Duration.ofSeconds(30)));
        CompletableFuture<Decision> untouched = ask(other, Duration.ofSeconds(30));
        int asked = backend.asked.size();
        limiter.retract(SLOW);
        timer.run();
        under.forEach(one -> assertFalse(one.getNow(null).allowed()));
        assertTrue(under.get(0).join().retryAfter().isPresent());
        assertEquals(asked, backend.asked.size());
        assertEquals(1, limiter.monitor().waiting());
        timer.advance(10_000_000);
        assertTrue(untouched.join().allowed());
    }

    @Test
    void whoAsksWhileThePolicyIsRemovedGetsThatAnswer() {
        ask(SLOW, SECOND);
        CompletableFuture<Decision> head = ask(SLOW, Duration.ofSeconds(30));
        backend.holdsBack = true;
        timer.advance(9_000_000);
        limiter.reset(SLOW, PartitionKey.of("unknown"));
        CompletableFuture<Decision> newcomer = limiter.acquireAsync(
                PermitRequest.of(SLOW, PartitionKey.of("c"), 1).withMaxWait(Duration.ofSeconds(30)));
        timer.advance(1_000_000);
        limiter.retract(SLOW);
        backend.answerAll();
        timer.run();
        assertTrue(head.getNow(null).allowed(), "its permits were taken");
        assertTrue(newcomer.getNow(null).allowed(), "its permits were taken");
        assertEquals(0, limiter.monitor().waiting());
        timer.advance(1);
        assertTrue(ask(SLOW, SECOND).isDone());
        assertFalse(ask(SLOW, Duration.ofSeconds(30)).isDone());
        assertEquals(1, limiter.monitor().waiting(), "code can use the policy on");
    }

    /** A return that another call gets, or a policy that others use, at the same moment. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aReturnToThoseThatAskIsNotLostBesideAnotherOne(boolean isReturn) {
        Policy other = Policy.of("other", Limit.fixedWindow(1_000_000, SECOND));
        AtomicBoolean isOver = new AtomicBoolean();
        CompletableFuture<Void> others = CompletableFuture.runAsync(
                () -> {
                    while (!isOver.get()) {
                        if (isReturn) {
                            limiter.reset(other, PartitionKey.of("unknown"));
                        } else {
                            limiter.announce(Policy.of("unknown", Limit.fixedWindow(1, SECOND)));
                        }
                    }
                },
                task -> new Thread(task).start());
        int lost = 0;
        for (int i = 0; i < 500; i++) {
            PartitionKey key = PartitionKey.of("k" + i);
            List<Charge> charges = new ArrayList<>(List.of(new Charge(SLOW, key, 1)));
            for (int j = 0; j < 100; j++) {
                charges.add(new Charge(other, PartitionKey.of("o" + j), 1));
            }
            limiter.tryAcquire(SLOW, key, 1);
            backend.holdsBack = true;
            CompletableFuture<Decision> waits =
                    limiter.acquireAsync(PermitRequest.of(charges).withMaxWait(Duration.ofSeconds(30)));
            limiter.reset(SLOW, key);
            backend.answerAll();
            timer.run();
            lost += waits.isDone() ? 0 : 1;
        }
        isOver.set(true);
        others.join();
        assertEquals(0, lost);
    }
}
