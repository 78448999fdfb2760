package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import java.time.Duration;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/** What can happen between a question of a waiting call and its answer, at a time that the test sets. */
@Timeout(value = 30, threadMode = ThreadMode.SEPARATE_THREAD) // a head that asks without a pause
class WaitingEdgesTest {
    private static final PartitionKey KEY = PartitionKey.of("a");
    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Policy SLOW = Policy.of("p", Limit.tokenBucket(1, Duration.ofSeconds(10), 1));
    private static final Policy FAST = Policy.of("p", Limit.tokenBucket(10, Duration.ofSeconds(10), 10));

    private final ManualTimer timer = new ManualTimer();
    private final AskedBackend backend = new AskedBackend(inProcess());
    private boolean isExecutorClosed;
    private final RateLimiter limiter = RateLimiters.builder(backend)
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
        return limiter.acquireAsync(PermitRequest.of(policy, KEY, 1).withMaxWait(wait));
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

    /** Nothing decides under a policy that is gone, and nobody waits for it until the end of the wait. */
    @Test
    void callsThatWaitForAPolicyThatIsRemovedAreDeniedAtOnce() {
        Policy other = Policy.of("q", Limit.tokenBucket(1, Duration.ofSeconds(10), 1));
        ask(SLOW, SECOND);
        ask(other, SECOND);
        List<CompletableFuture<Decision>> under = List.of(
                ask(SLOW, Duration.ofSeconds(30)),
                ask(SLOW, Duration.ofSeconds(30)),
                // In the queue of the other.
                limiter.acquireAsync(
                        PermitRequest.of(List.of(new Charge(other, KEY, 1), new Charge(SLOW, PartitionKey.of("b"), 1)))
                                .withMaxWait(charge -> Duration.ofSeconds(30))));
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
    void whoAsksWhileThePolicyIsRemovedGetsThatAnswerAndWaitsNoMore() {
        ask(SLOW, SECOND);
        CompletableFuture<Decision> head = ask(SLOW, Duration.ofSeconds(30));
        backend.holdsBack = true;
        timer.advance(9_000_000);
        limiter.reset(SLOW, PartitionKey.of("unknown"));
        CompletableFuture<Decision> newcomer = limiter.acquireAsync(
                PermitRequest.of(SLOW, PartitionKey.of("c"), 1).withMaxWait(Duration.ofSeconds(30)));
        CompletableFuture<Decision> denied = limiter.acquireAsync(
                PermitRequest.of(SLOW, PartitionKey.of("c"), 1).withMaxWait(Duration.ofSeconds(30)));
        timer.advance(1_000_000);
        limiter.retract(SLOW);
        backend.holdsBack = false;
        backend.answer();
        timer.run();
        assertTrue(head.getNow(null).allowed(), "its permits were taken");
        assertTrue(newcomer.getNow(null).allowed(), "its permits were taken");
        assertFalse(denied.getNow(null).allowed());
        assertEquals(0, limiter.monitor().waiting());
        timer.advance(1);
        assertTrue(ask(SLOW, SECOND).isDone());
        assertFalse(ask(SLOW, Duration.ofSeconds(30)).isDone());
        assertEquals(1, limiter.monitor().waiting(), "code can use the policy on");
    }

    @Test
    void theWaitOfEachChargeIsAskedForOnceAlsoWhereAShareDecides() {
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
            try (RateLimiter small = RateLimiters.builder(new AskedBackend(inProcess()))
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
