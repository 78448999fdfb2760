package io.limiter.contract;

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
import io.limiter.kit.Looks;
import io.limiter.kit.OnEachClient;
import io.limiter.kit.OpenBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/** What is asked without blocking does what the blocking call does. */
class AsyncContractTest {
    private static final Policy POLICY = Policy.of("async", Limit.slidingList(3, Duration.ofHours(1)));
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");

    @OnEachClient
    void takeLookRefundAndReset(OpenBackend on) {
        Decision first = done(on.limiter.acquireAsync(PermitRequest.of(List.of(new Charge(POLICY, KEY, 2)))));
        Decision second = done(on.limiter.acquireAsync(PermitRequest.of(List.of(new Charge(POLICY, KEY, 1)))));
        assertTrue(first.allowed() && second.allowed());
        assertEquals(0, remaining(on.limiter));
        assertTrue(done(on.limiter.refundAsync(List.of(first), charge -> true)));
        assertEquals(2, remaining(on.limiter));
        assertFalse(done(on.limiter.refundAsync(List.of(first), charge -> true)), "a second time");
        assertEquals(2, remaining(on.limiter));
        on.limiter.reset(POLICY, KEY);
        assertEquals(3, remaining(on.limiter));
        assertFalse(done(on.limiter.refundAsync(List.of(second), charge -> true)), "what was reset is not given back");
    }

    @OnEachClient
    void chargesThatAreAskedEachByItselfDoNotStopOneAnother(OpenBackend on) {
        Policy none = Policy.of("none", Limit.fixedWindow(0, Duration.ofHours(1)));
        Policy one =
                Policy.of("one", Limit.slidingList(1, Duration.ofHours(1)), Limit.fixedWindow(5, Duration.ofDays(1)));
        List<Charge> charges = List.of(new Charge(none, KEY, 1), new Charge(one, KEY, 1), new Charge(POLICY, KEY, 2));
        assertEquals(List.of(false, true, true), each(on.limiter, charges));
        assertEquals(List.of(false, false, false), each(on.limiter, charges));
        assertEquals(1, remaining(on.limiter));
        Decision.Source source = Looks.at(on.limiter, POLICY, KEY).source();
        assertEquals(2, on.limiter.monitor().denied("none", source));
    }

    private static List<Boolean> each(RateLimiter limiter, List<Charge> charges) {
        List<CompletableFuture<Decision>> decisions = limiter.acquireEachAsync(PermitRequest.each(charges));
        for (int i = 0; i < charges.size(); i++) {
            assertEquals(List.of(charges.get(i)), done(decisions.get(i)).charges());
        }
        return decisions.stream().map(decision -> done(decision).allowed()).toList();
    }

    /** Two decisions of one request, of which one policy is given back for one key, also where both have charged it. */
    @OnEachClient
    void someChargesOfSeveralDecisionsAreGivenBackTogether(OpenBackend on) {
        Policy kept = Policy.of("kept", Limit.fixedWindow(9, Duration.ofHours(1)));
        Decision first = on.take(new Charge(POLICY, KEY, 1), new Charge(kept, KEY, 1));
        Decision second = on.limiter.tryAcquire(POLICY, KEY, 2);
        assertTrue(first.allowed() && second.allowed());
        List<Decision> both = List.of(first, second);
        assertTrue(done(
                on.limiter.refundAsync(both, charge -> charge.policy().name().equals("async"))));
        assertEquals(3, remaining(on.limiter));
        assertFalse(done(on.limiter.refundAsync(both, charge -> true)), "a second time");
        assertEquals(8, on.left(kept, KEY));
    }

    private static long remaining(RateLimiter limiter) {
        return done(limiter.acquireAsync(
                        PermitRequest.of(List.of(new Charge(POLICY, KEY, 0))).withLook()))
                .remaining();
    }

    private static <T> T done(CompletionStage<T> stage) {
        return stage.toCompletableFuture().join();
    }
}
