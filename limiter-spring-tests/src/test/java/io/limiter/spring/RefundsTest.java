package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

/** What is refunded when a limited call fails: the permits of the annotation with refundOn, and nothing else. */
class RefundsTest {
    private static final String NINE = "limiter.policies.nine.limits = 9/1h\n";

    static class Failing {
        @RateLimited(value = "nine", key = "'a'", refundOn = IllegalStateException.class)
        @RateLimited(value = "nine", key = "'b'")
        public void onePolicyForTwoKeys() {
            throw new IllegalStateException();
        }

        @RateLimited(value = "nine", key = "'c'", permits = "5")
        @RateLimited(value = "nine", key = "'c'", permits = "1", refundOn = IllegalStateException.class)
        public void theLargerHasNoRefund() {
            throw new IllegalStateException();
        }

        @RateLimited(value = "nine", key = "'d'", permits = "5", refundOn = IllegalStateException.class)
        @RateLimited(value = "nine", key = "'d'", permits = "1")
        public void theLargerHasARefund() {
            throw new IllegalStateException();
        }

        @RateLimited(value = "nine", key = "'g'", permits = "5", refundOn = IllegalStateException.class)
        @RateLimited(value = "nine", key = "'g'", permits = "1")
        @RateLimited(value = "nine", key = "'g'", permits = "2", refundOn = IllegalStateException.class)
        public void theSecondOfThreeHasNoRefund() {
            throw new IllegalStateException();
        }

        @RateLimited(value = "nine", key = "'e'", refundOn = ExecutionException.class)
        public void wrapper() throws ExecutionException {
            throw new ExecutionException(new IOException());
        }

        @RateLimited(value = "nine", key = "'f'", refundOn = IOException.class)
        public void wrapped() {
            throw new CompletionException(new IOException());
        }
    }

    @Test
    void eachAnnotationGivesBackItsOwn() {
        try (App app = App.of(NINE, Failing.class)) {
            Failing failing = app.bean(Failing.class);
            assertThrows(IllegalStateException.class, failing::onePolicyForTwoKeys);
            assertEquals(9, app.left("nine", "a"));
            assertEquals(8, app.left("nine", "b"));
            assertThrows(IllegalStateException.class, failing::theLargerHasNoRefund);
            assertEquals(4, app.left("nine", "c"), "two of one policy and key are one charge, that of the larger");
            assertThrows(IllegalStateException.class, failing::theLargerHasARefund);
            assertEquals(4, app.left("nine", "d"), "one of them keeps it");
            assertThrows(IllegalStateException.class, failing::theSecondOfThreeHasNoRefund);
            assertEquals(4, app.left("nine", "g"), "one of three keeps it");
        }
    }

    @Test
    void whatIsThrownMattersAndWhatItWraps() {
        try (App app = App.of(NINE, Failing.class)) {
            Failing failing = app.bean(Failing.class);
            assertThrows(ExecutionException.class, failing::wrapper);
            assertEquals(9, app.left("nine", "e"));
            assertThrows(CompletionException.class, failing::wrapped);
            assertEquals(9, app.left("nine", "f"));
        }
    }

    static class TwoAnnotations {
        @RateLimited(value = "nine", key = "'kept'")
        @RateLimited(value = "nine", key = "'back'", refundOn = IllegalStateException.class)
        public void now() {
            throw new IllegalStateException();
        }

        @RateLimited(value = "nine", key = "'kept later'")
        @RateLimited(value = "nine", key = "'back later'", refundOn = IllegalStateException.class)
        public CompletableFuture<String> later() {
            return CompletableFuture.failedFuture(new IllegalStateException());
        }
    }

    @Test
    void theShareOfAnInstanceGetsItsPartBackToo() {
        ManualTime time = new ManualTime();
        Backend share = InProcessBackend.builder().timeSource(time).build();
        RateLimiter rateLimiter = RateLimiters.builder(
                        (charges, mode) -> CompletableFuture.failedFuture(new BackendException("RL-220 unreachable")))
                .fallback(share)
                .instances(3)
                .build();
        try (App app = App.on(rateLimiter, NINE, TwoAnnotations.class)) {
            TwoAnnotations two = app.bean(TwoAnnotations.class);
            assertThrows(IllegalStateException.class, two::now);
            assertEquals(2, app.left("nine", "kept"), "a third of the limit is the share");
            assertEquals(3, app.left("nine", "back"));
            assertThrows(CompletionException.class, () -> two.later().join());
            assertEquals(2, app.left("nine", "kept later"));
            assertEquals(3, app.left("nine", "back later"));
        }
    }
}
