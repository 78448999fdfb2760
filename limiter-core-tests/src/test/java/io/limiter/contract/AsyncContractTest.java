package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.TestedBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What is asked without blocking does what the blocking call does. */
class AsyncContractTest {
    private static final Policy POLICY = Policy.of("async", Limit.slidingList(3, Duration.ofHours(1)));
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");

    static Stream<TestedBackend> backends() {
        return Backends.withSentinel().stream();
    }

    @ParameterizedTest(name = "on {0}")
    @MethodSource("backends")
    void takeLookRefundAndReset(TestedBackend tested) {
        try (Backend backend = tested.open(new ManualTime());
                RateLimiter limiter = RateLimiters.on(backend)) {
            Decision first = done(limiter.acquireAsync(PermitRequest.of(List.of(new Charge(POLICY, KEY, 2)))));
            Decision second = done(limiter.acquireAsync(PermitRequest.of(List.of(new Charge(POLICY, KEY, 1)))));
            assertTrue(first.allowed() && second.allowed());
            assertEquals(0, remaining(limiter));
            assertTrue(done(limiter.refundAsync(List.of(first), charge -> true)));
            assertEquals(2, remaining(limiter));
            assertFalse(done(limiter.refundAsync(List.of(first), charge -> true)), "a second time");
            assertEquals(2, remaining(limiter));
            limiter.reset(POLICY, KEY);
            assertEquals(3, remaining(limiter));
            assertFalse(done(limiter.refundAsync(List.of(second), charge -> true)), "what was reset is not given back");
        }
    }

    @ParameterizedTest(name = "on {0}")
    @MethodSource("backends")
    void chargesThatAreAskedEachByItselfDoNotStopOneAnother(TestedBackend tested) {
        Policy none = Policy.of("none", Limit.fixedWindow(0, Duration.ofHours(1)));
        Policy one =
                Policy.of("one", Limit.slidingList(1, Duration.ofHours(1)), Limit.fixedWindow(5, Duration.ofDays(1)));
        List<Charge> charges = List.of(new Charge(none, KEY, 1), new Charge(one, KEY, 1), new Charge(POLICY, KEY, 2));
        try (Backend backend = tested.open(new ManualTime());
                RateLimiter limiter = RateLimiters.on(backend)) {
            assertEquals(List.of(false, true, true), each(limiter, charges));
            assertEquals(List.of(false, false, false), each(limiter, charges));
            assertEquals(1, remaining(limiter));
            assertEquals(
                    2,
                    limiter.monitor()
                            .denied("none", Looks.at(limiter, POLICY, KEY).source()));
        }
    }

    private static List<Boolean> each(RateLimiter limiter, List<Charge> charges) {
        List<CompletableFuture<Decision>> decisions = limiter.acquireEachAsync(PermitRequest.each(charges));
        for (int i = 0; i < charges.size(); i++) {
            assertEquals(List.of(charges.get(i)), done(decisions.get(i)).charges());
        }
        return decisions.stream().map(decision -> done(decision).allowed()).toList();
    }

    /** Two decisions of one request, of which one policy is given back for one key, also where both have charged it. */
    @ParameterizedTest(name = "on {0}")
    @MethodSource("backends")
    void someChargesOfSeveralDecisionsAreGivenBackTogether(TestedBackend tested) {
        Policy kept = Policy.of("kept", Limit.fixedWindow(9, Duration.ofHours(1)));
        try (Backend backend = tested.open(new ManualTime());
                RateLimiter limiter = RateLimiters.on(backend)) {
            Decision first =
                    limiter.tryAcquire(PermitRequest.of(List.of(new Charge(POLICY, KEY, 1), new Charge(kept, KEY, 1))));
            Decision second = limiter.tryAcquire(POLICY, KEY, 2);
            assertTrue(first.allowed() && second.allowed());
            List<Decision> both = List.of(first, second);
            assertTrue(done(
                    limiter.refundAsync(both, charge -> charge.policy().name().equals("async"))));
            assertEquals(3, remaining(limiter));
            assertFalse(done(limiter.refundAsync(both, charge -> true)), "a second time");
            assertEquals(8, Looks.left(limiter, kept, KEY));
        }
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
