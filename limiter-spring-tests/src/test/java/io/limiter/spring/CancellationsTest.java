package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Relay;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A call that is cancelled before the decision never runs; afterwards the result of the method is cancelled. */
class CancellationsTest {
    private static final String NINE = "limiter.policies.nine.limits = 9/1h\n";

    private final List<Runnable> answers = new ArrayList<>();

    /** A limiter with asynchronous decisions that the test completes. */
    private RateLimiter slow() {
        Backend slow = new Relay(InProcessBackend.create()) {
            @Override
            public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
                Decision decision = inner().decideNow(charges, mode);
                CompletableFuture<Decision> later = new CompletableFuture<>();
                answers.add(() -> later.complete(decision));
                return later;
            }
        };
        return RateLimiters.builder(slow).executor(Runnable::run).build();
    }

    private void answer() {
        answers.forEach(Runnable::run);
        answers.clear();
    }

    static class Service {
        final AtomicInteger calls = new AtomicInteger();
        final CompletableFuture<String> own = new CompletableFuture<>();

        @RateLimited(value = "nine", key = "'plain'")
        public CompletableFuture<String> completable() {
            calls.incrementAndGet();
            return own;
        }

        @RateLimited(value = "nine", key = "'back'", refundOn = CancellationException.class)
        public CompletableFuture<String> completableWithRefund() {
            return own;
        }

        public int calls() {
            return calls.get();
        }

        public CompletableFuture<String> own() {
            return own;
        }
    }

    @Test
    void beforeTheDecisionNothingRuns() {
        try (App app = App.on(slow(), NINE, Service.class)) {
            Service service = app.bean(Service.class);
            CompletableFuture<String> completable = service.completable();
            assertTrue(completable.cancel(true));
            answer();
            assertEquals(0, service.calls());
            assertTrue(completable.isCancelled());
        }
    }

    @Test
    void afterTheDecisionTheMethodsOwnIsCancelled() {
        try (App app = App.on(slow(), NINE, Service.class)) {
            Service service = app.bean(Service.class);
            CompletableFuture<String> completable = service.completable();
            answer();
            assertFalse(completable.isDone());
            assertTrue(completable.cancel(true));
            assertTrue(service.own().isCancelled());
        }
    }

    @Test
    void aCancelledCallCanGiveBack() {
        try (App app = App.on(RateLimiters.on(InProcessBackend.create()), NINE, Service.class)) {
            Service service = app.bean(Service.class);
            CompletableFuture<String> completable = service.completableWithRefund();
            assertEquals(8, app.left("nine", "back"));
            assertTrue(completable.cancel(true));
            assertTrue(service.own().isCancelled());
            assertEquals(9, app.left("nine", "back"));
        }
    }
}
