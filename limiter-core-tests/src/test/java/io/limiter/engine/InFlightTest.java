package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.config.LimitText;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.Relay;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls in flight, decided in this JVM. */
class InFlightTest {
    private static final PartitionKey KEY = PartitionKey.of("key");
    private static final Policy CALLS = Policy.of("calls", Limit.concurrent(2));
    private static final Policy BOTH = Policy.of("both", LimitText.parseAll("2 concurrent, 3/1m"));

    private final ManualTime time = new ManualTime();
    private final InProcessBackend backend = Backends.inProcess(time);
    private final RateLimiter limiter = RateLimiters.on(backend);

    @Test
    void aPermitIsHeldUntilTheCallEnds() {
        InFlight first = limiter.enter(CALLS, KEY, 1);
        InFlight second = limiter.enter(CALLS, KEY, 1);
        time.advance(Duration.ofDays(400));
        InFlight denied = limiter.enter(CALLS, KEY, 1);
        assertTrue(first.allowed() && second.allowed());
        assertFalse(denied.allowed());
        assertEquals(2, limiter.monitor().inFlight("calls"));
        denied.close();
        assertFalse(limiter.enter(CALLS, KEY, 1).allowed());
        first.close();
        first.close();
        limiter.refund(first.decision());
        assertEquals(1, limiter.monitor().inFlight("calls"));
        assertTrue(limiter.enter(CALLS, KEY, 1).allowed());
        assertFalse(limiter.enter(CALLS, KEY, 1).allowed());
    }

    @Test
    void nobodyKnowsWhenADeniedCallIsAllowed() {
        limiter.enter(CALLS, KEY, 2);
        Decision denied = limiter.enter(CALLS, KEY, 1).decision();
        assertEquals(LimitOutcome.UNKNOWN, denied.retryAfterMicros());
        assertTrue(denied.isRetryUnknown());
        assertEquals(Optional.empty(), denied.retryAfter());
        Decision never = limiter.enter(CALLS, KEY, 3).decision();
        assertEquals(LimitOutcome.NEVER, never.retryAfterMicros());
        assertFalse(never.isRetryUnknown());
    }

    /** As an override of a key may do. */
    @Test
    void aBackendMayDecideUnderAPolicyThatHoldsNothing() {
        Policy rate = Policy.of("both", Limit.fixedWindow(3, Duration.ofMinutes(1)));
        Backend overriding = new Relay(InProcessBackend.create()) {
            @Override
            public Decision decideNow(List<Charge> charges, Mode mode) {
                return inner().decideNow(List.of(new Charge(rate, KEY, 1)), mode);
            }
        };
        try (RateLimiter other = RateLimiters.on(overriding)) {
            InFlight call = other.enter(BOTH, KEY, 1);
            assertTrue(call.allowed());
            assertEquals(0, other.monitor().inFlight("both"));
            call.close();
            assertEquals(0, other.monitor().inFlight("both"));
        }
    }

    /** Of a call that runs, which it ends, and of one that has ended. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRefundGivesTheRatesOfACallBack(boolean hasEnded) {
        InFlight first = limiter.enter(BOTH, KEY, 1);
        if (hasEnded) {
            first.close();
        }
        assertTrue(limiter.refund(first.decision()));
        first.close();
        assertEquals(0, limiter.monitor().inFlight("both"));
        Decision look = Looks.at(limiter, BOTH, KEY);
        assertEquals(
                List.of(2L, 3L),
                look.outcomes().stream().map(LimitOutcome::remaining).toList());
    }

    @Test
    void looksHoldNothing() {
        Decision look = limiter.tryAcquire(PermitRequest.of(CALLS, KEY, 1).withLook());
        Decision check = limiter.tryAcquire(PermitRequest.of(CALLS, KEY, 1).withCheck());
        assertTrue(look.allowed() && check.allowed());
        InFlight first = limiter.enter(CALLS, KEY, 2);
        limiter.end(look);
        limiter.end(check);
        limiter.refund(check);
        assertFalse(limiter.enter(CALLS, KEY, 1).allowed());
        first.close();
        assertEquals(0, limiter.monitor().inFlight("calls"));
    }

    @Test
    void whoDoesNotEndACallIsRefused() {
        Charge charge = new Charge(CALLS, KEY, 1);
        String message = assertThrows(IllegalArgumentException.class, () -> limiter.tryAcquire(CALLS, KEY, 1))
                .getMessage();
        assertTrue(message.contains("enter("), message);
        assertThrows(IllegalArgumentException.class, () -> limiter.tryAcquire(PermitRequest.of(List.of(charge))));
        assertThrows(IllegalArgumentException.class, () -> limiter.acquire(PermitRequest.of(List.of(charge))));
        assertThrows(IllegalArgumentException.class, () -> limiter.acquireAsync(PermitRequest.of(List.of(charge))));
        assertThrows(
                IllegalArgumentException.class,
                () -> limiter.acquireEachAsync(List.of(PermitRequest.of(List.of(charge)))));
        assertTrue(limiter.tryAcquire(CALLS, KEY, 0).allowed());
        assertTrue(limiter.enter(CALLS, KEY, 2).allowed());
    }

    @Test
    void aBlockDoesNotCountCallsInFlight() {
        Policy policy = BOTH.withPenalty(Limit.block(1, Duration.ofHours(1), Duration.ofHours(1), Duration.ofHours(1)));
        InFlight first = limiter.enter(policy, KEY, 1);
        limiter.enter(policy, KEY, 1);
        for (int i = 0; i < 3; i++) {
            assertFalse(limiter.enter(policy, KEY, 1).decision().blocked());
            assertFalse(limiter.enter(List.of(new Charge(policy, KEY, 1), new Charge(CALLS, KEY, 1)))
                    .decision()
                    .blocked());
        }
        first.close();
        first = limiter.enter(policy, KEY, 1);
        assertTrue(first.allowed());
        first.close();
        assertFalse(limiter.enter(policy, KEY, 1).allowed());
        assertTrue(limiter.enter(policy, KEY, 1).decision().blocked());
    }

    @Test
    void calledOffBeforeItIsAnsweredItHoldsNothing() {
        limiter.enter(CALLS, KEY, 1).close();
        PermitRequest request = PermitRequest.of(CALLS, KEY, 2).withMaxWait(Duration.ofSeconds(30));
        InFlight first = limiter.enter(CALLS, KEY, 2);
        List<CompletableFuture<InFlight>> waiting = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            waiting.add(limiter.enterAsync(request));
        }
        waiting.get(0).cancel(false);
        first.close();
        waiting.get(1).join().close();
        waiting.get(2).join().close();
        assertEquals(0, limiter.monitor().inFlight("calls"));
    }

    @Test
    void calledOffWhileItIsAskedItHoldsNothing() {
        AskedBackend slow = new AskedBackend(backend);
        slow.holdsBack = true;
        RateLimiter asking = RateLimiters.on(slow);
        PermitRequest request = PermitRequest.of(BOTH, KEY, 1);
        asking.enterAsync(request).cancel(false);
        asking.acquireAsync(request.withEnd()).cancel(false);
        CompletableFuture<InFlight> denied = asking.enterAsync(request);
        slow.answer();
        assertFalse(denied.join().allowed());
        assertEquals(2, slow.granted);
        assertEquals(0, asking.monitor().inFlight("both"));
        assertTrue(limiter.enter(BOTH, KEY, 1).allowed(), "what rates have counted stays");
        assertFalse(limiter.enter(BOTH, KEY, 1).allowed());
    }

    /** A full table: keys share states, and each counts what its calls hold. */
    @Test
    void keysThatShareAStateGiveBackTheirOwn() {
        InProcessBackend small =
                InProcessBackend.builder().timeSource(time).maxEntries(2).build();
        RateLimiter few = RateLimiters.on(small);
        for (int round = 0; round < 50; round++) {
            List<InFlight> all = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                all.add(few.enter(CALLS, PartitionKey.of("key " + i), 1));
                all.add(few.enter(CALLS, PartitionKey.of("key " + i), 1));
            }
            assertTrue(all.stream().filter(InFlight::allowed).count() >= 4);
            all.forEach(InFlight::close);
            time.advance(Duration.ofSeconds(2));
            assertEquals(0, few.monitor().inFlight("calls"));
        }
        InFlight whole = few.enter(CALLS, PartitionKey.of("key 19"), 2);
        assertTrue(whole.allowed(), "all came back");
    }

    /** The permit came back while the denial was on its way, and the next turn would be after the wait. */
    @Test
    void aCallThatIsDeniedByAnAnswerOlderThanAnEndAsksAgainAtOnce() {
        ManualTimer own = new ManualTimer();
        AskedBackend backend = new AskedBackend(Backends.inProcess(own.time));
        RateLimiter late = own.limiter(RateLimiters.builder(backend).executor(Runnable::run));
        Policy one = Policy.of("one", Limit.concurrent(1));
        InFlight first = late.enter(one, KEY, 1);
        backend.holdsBack = true;
        PermitRequest waits = PermitRequest.of(one, KEY, 1).withMaxWait(Duration.ofMillis(40));
        CompletableFuture<InFlight> second = late.enterAsync(waits);
        CompletableFuture<InFlight> third = late.enterAsync(
                PermitRequest.of(one, PartitionKey.of("other"), 1).withMaxWait(Duration.ofMillis(40)));
        CompletableFuture<InFlight> fourth = late.enterAsync(waits);
        first.close();
        backend.answerAll();
        own.run();
        assertTrue(second.isDone() && third.isDone());
        assertTrue(second.join().decision().allowed());
        assertTrue(third.join().decision().allowed());
        assertFalse(fourth.isDone(), "there is one permit");
        assertEquals(6, backend.asked.size(), "the second once more, and the fourth as the head after it");
    }
}
