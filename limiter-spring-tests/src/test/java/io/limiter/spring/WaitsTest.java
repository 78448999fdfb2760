package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Calls of asynchronous methods that wait for their permits. */
class WaitsTest {
    private final App app = App.on(RateLimiters.on(InProcessBackend.create()), "", Service.class);
    private final Service service = app.bean(Service.class);

    @AfterEach
    void close() {
        app.close();
    }

    static class Service {
        @RateLimited(limits = "5/1s token-bucket burst 1", name = "stage", key = "global", maxWait = "10s")
        public CompletionStage<String> stage() {
            return CompletableFuture.completedFuture("done");
        }

        @RateLimited(limits = "5/1s token-bucket burst 1", name = "mono", key = "global", maxWait = "10s")
        public Mono<String> mono() {
            return Mono.just("done");
        }

        @RateLimited(limits = "5/1s token-bucket burst 1", name = "flux", key = "global", maxWait = "10s")
        public Flux<String> flux() {
            return Flux.just("done", "again");
        }

        @RateLimited(limits = "1/1h", name = "slow", key = "global", maxWait = "1m")
        public CompletableFuture<String> slow() {
            return CompletableFuture.completedFuture("done");
        }

        @RateLimited(limits = "1/20s", name = "cancelled", key = "global", maxWait = "1m")
        public CompletableFuture<String> cancelled() {
            return CompletableFuture.completedFuture("done");
        }

        @RateLimited(limits = "1/20s", name = "reactive", key = "global", maxWait = "1m")
        public Mono<String> reactive() {
            return Mono.just("done");
        }

        @RateLimited(limits = "5/1s token-bucket burst 1", name = "patient", key = "global", maxWait = "10s")
        @RateLimited(limits = "1/1h", name = "hasty", key = "global")
        public CompletableFuture<String> both() {
            return CompletableFuture.completedFuture("done");
        }
    }

    @Test
    void aDeniedCallWaits() throws Exception {
        long began = System.nanoTime();
        for (int i = 0; i < 4; i++) {
            assertEquals("done", service.stage().toCompletableFuture().get(60, TimeUnit.SECONDS));
            assertEquals("done", service.mono().block(Duration.ofSeconds(60)));
            assertEquals(2, service.flux().count().block(Duration.ofSeconds(60)));
        }
        assertTrue(System.nanoTime() - began > 590_000_000L, "three permits of each need 600 ms");
    }

    @Test
    void aWaitThatCannotSucceedIsDenied() {
        service.slow().join();
        CompletionException denied =
                assertThrows(CompletionException.class, () -> service.slow().join());
        assertTrue(denied.getCause() instanceof RateLimitExceededException, denied::toString);
        service.both().join();
        assertTrue(service.both().isCompletedExceptionally(), "one of the two that deny has no maxWait");
        assertEquals(0, app.rateLimiter.monitor().waiting());
    }

    @Test
    void aCancelledCallLeavesItsQueue() {
        service.cancelled().join();
        CompletableFuture<String> waits = service.cancelled();
        assertEquals(1, app.rateLimiter.monitor().waiting());
        waits.cancel(true);
        assertEquals(0, app.rateLimiter.monitor().waiting());
        service.reactive().block(Duration.ofSeconds(60));
        Disposable subscription = service.reactive().subscribe();
        Await.until("it waits", () -> app.rateLimiter.monitor().waiting() == 1);
        subscription.dispose();
        assertEquals(0, app.rateLimiter.monitor().waiting());
    }
}
