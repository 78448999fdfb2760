package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.inprocess.InProcessBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** What can happen between a question of a waiting call and its answer, at a time that the test sets. */
class WaitingEdgesTest {
    private static final PartitionKey KEY = PartitionKey.of("a");
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Policy SLOW = Policy.of("p", Limit.tokenBucket(1, Duration.ofSeconds(10), 1));
    private static final Policy FAST = Policy.of("p", Limit.tokenBucket(10, Duration.ofSeconds(10), 10));

    private final ManualTimer timer = new ManualTimer();
    private final AskedBackend backend = new AskedBackend(inProcess());
    private boolean isExecutorClosed;
    private final RateLimiter limiter = RateLimiter.builder(backend)
            .fallback(inProcess())
            .instances(2)
            .executor(task -> {
                if (isExecutorClosed) {
                    throw new RejectedExecutionException("closed");
                }
                task.run();
            })
            .timer(timer)
            .build();

    private InProcessBackend inProcess() {
        return InProcessBackend.builder().timeSource(timer.time).build();
    }

    private CompletableFuture<Decision> ask(Policy policy, Duration wait) {
        return limiter.tryAcquireAsync(policy, KEY, 1, wait);
    }

    @Test
    void aCallWithoutAWaitIsDeniedBehindAQueueAndDoesNotAsk() {
        ask(SLOW, SECOND);
        CompletableFuture<Decision> waits = ask(SLOW, Duration.ofSeconds(20));
        int asked = backend.asked.size();
        CompletableFuture<Decision> denied = ask(SLOW, Duration.ZERO);
        assertFalse(denied.join().allowed());
        assertEquals(asked, backend.asked.size());
        assertEquals(1, limiter.waiting());
        assertFalse(waits.isDone());
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
        backend.holdsBack = false;
        backend.answer();
        timer.run();
        assertTrue(waits.join().allowed());
        assertEquals(FAST, backend.asked.get(backend.asked.size() - 1).get(0).policy());
    }

    @Test
    void theWaitOfEachChargeIsAskedForOnceAlsoWhereAShareDecides() {
        backend.isDown = true;
        List<String> askedFor = new ArrayList<>();
        Charge charge = new Charge(FAST, KEY, 5);
        assertTrue(limiter.tryAcquire(List.of(charge)).allowed());
        CompletableFuture<Decision> waits = limiter.tryAcquireAsync(List.of(charge), asked -> {
            askedFor.add(asked.policy().name());
            return Duration.ofSeconds(15);
        });
        assertFalse(waits.isDone());
        timer.advance(10_000_000);
        assertEquals(Decision.Source.LOCAL_FALLBACK, waits.join().source());
        assertTrue(waits.join().allowed());
        assertEquals(List.of("p"), askedFor);
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
        assertEquals(0, limiter.waiting());
    }
}
