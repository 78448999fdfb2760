package io.limiter.spring.weaving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.LogLines;
import io.limiter.kit.Repeats;
import io.limiter.spring.App;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Async;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** When a call has ended its permits in flight are free. Runs proxied and woven. */
class InFlightMethodsTest {
    static final int LIMIT = 8;
    private static final int ROUNDS = Repeats.of(20, 1_000);

    private static final String CONFIG = "limiter.policies.calls.limits = 8 concurrent";

    static class Model {
        final AtomicInteger running = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();

        @RateLimited(value = "calls", key = "'a'")
        public int value(boolean fails) {
            return run(fails);
        }

        @RateLimited(value = "calls", key = "'a'")
        public CompletableFuture<Integer> future(boolean fails) {
            return CompletableFuture.supplyAsync(() -> run(fails));
        }

        @RateLimited(value = "calls", key = "'a'")
        public CompletableFuture<Integer> never() {
            return new CompletableFuture<>();
        }

        @RateLimited(value = "calls", key = "'a'", maxWait = "30s")
        public CompletableFuture<Integer> waits() {
            // Not counted as running: it goes on when it is cancelled, which frees its permit.
            return CompletableFuture.supplyAsync(() -> 1);
        }

        @RateLimited(value = "calls", key = "'a'", permits = "2")
        public Flux<Integer> stream(boolean fails) {
            return Flux.range(0, 3).map(i -> run(fails));
        }

        @RateLimited(value = "calls", key = "'a'")
        public Mono<Integer> neverMono() {
            return Mono.never();
        }

        @RateLimited(value = "calls", key = "'a'", shadow = true)
        public int shadow() {
            return 1;
        }

        private int run(boolean fails) {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            Thread.yield();
            running.decrementAndGet();
            if (fails) {
                throw new IllegalStateException("on purpose");
            }
            return 1;
        }

        public int most() {
            return most.get();
        }
    }

    static class Plain {
        @RateLimited(value = "calls", key = "'a'")
        public Future<Integer> future() {
            return CompletableFuture.completedFuture(1);
        }

        @RateLimited(value = "calls", key = "'a'")
        public ResponseEntity<StreamingResponseBody> download() {
            return ResponseEntity.ok(out -> {});
        }

        @Async
        @RateLimited(value = "calls", key = "'a'")
        public void inBackground() {}

        @RateLimited(value = "calls", key = "'a'")
        public ResponseEntity<CompletableFuture<String>> ofStages() {
            return ResponseEntity.ok(CompletableFuture.completedFuture("done"));
        }

        @RateLimited(value = "calls", key = "'a'")
        public void atOnce() {}
    }

    @Test
    void callsThatEndBeforeTheirResultIsCompleteAreReported() throws Exception {
        try (LogLines lines = new LogLines();
                Limited<Plain> limited = Limited.of(Plain.class, CONFIG, RateLimiters.on(InProcessBackend.create()))) {
            assertEquals(1, limited.object().future().get());
            limited.object().download();
            limited.object().inBackground();
            limited.object().ofStages();
            limited.object().atOnce();
            List<String> reported = lines.of(Level.WARN, "RL-183");
            for (String method : List.of("future", "download", "inBackground")) {
                assertTrue(reported.stream().anyMatch(line -> line.contains("." + method + "()")), reported::toString);
            }
            assertEquals(3, reported.size(), reported::toString);
        }
    }

    private static long left(RateLimiter limiter) {
        return SettledMethodsTest.left(limiter, App.config(CONFIG).policies().get("calls"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void permitsAreFreeAfterTheCall(boolean onRedis) throws Exception {
        RateLimiter limiter =
                RateLimiters.on(onRedis ? Backends.connected(Backends.single()) : InProcessBackend.create());
        try (Limited<Model> limited = Limited.of(Model.class, CONFIG, limiter)) {
            Model model = limited.object();
            List<SettledMethodsTest.Action> ways = List.of(
                    () -> model.value(false),
                    () -> model.value(true),
                    () -> model.future(false).join(),
                    () -> model.future(true).join(),
                    () -> model.never().cancel(true),
                    () -> model.waits().join(),
                    () -> model.waits().cancel(true),
                    () -> model.stream(false).blockLast(),
                    () -> model.stream(true).blockLast(),
                    () -> model.stream(false).take(1).blockLast(),
                    // A slow reader, and one that gives up.
                    () -> model.stream(false)
                            .delayElements(Duration.ofMillis(1))
                            .blockLast(),
                    () -> model.neverMono()
                            .timeout(Duration.ofMillis(1), Mono.just(1))
                            .block(),
                    () -> model.neverMono().subscribe(none -> {}, denied -> {}).dispose(),
                    () -> model.neverMono().toFuture().cancel(true),
                    model::shadow);
            List<Callable<Boolean>> all = new ArrayList<>();
            for (SettledMethodsTest.Action way : ways) {
                assertFalse(isDenied(way), "alone");
                Await.until("no call in flight", () -> left(limiter) == LIMIT);
            }
            for (int i = 0; i < ROUNDS; i++) {
                ways.forEach(way -> all.add(() -> isDenied(way)));
            }
            AtOnce.all(32, all);
            Await.until("no call in flight", () -> left(limiter) == LIMIT);
            Await.until("none counted", () -> limiter.monitor().inFlight("calls") == 0);
            assertTrue(model.most() <= LIMIT, model.most() + " at once");
        }
    }

    private static boolean isDenied(SettledMethodsTest.Action way) throws Exception {
        try {
            way.run();
            return false;
        } catch (RateLimitExceededException full) {
            return true;
        } catch (IllegalStateException | CompletionException expected) {
            return expected.getCause() instanceof RateLimitExceededException;
        }
    }

    @Test
    void theyAreHeldUntilThen() throws Exception {
        RateLimiter limiter = RateLimiters.on(InProcessBackend.create());
        try (Limited<Model> limited = Limited.of(Model.class, CONFIG, limiter)) {
            Model model = limited.object();
            List<CompletableFuture<Integer>> running = new ArrayList<>();
            for (int i = 0; i < LIMIT - 1; i++) {
                running.add(model.never());
            }
            Disposable last = model.neverMono().subscribe();
            assertEquals(0, left(limiter));
            RateLimitExceededException full = assertThrows(RateLimitExceededException.class, () -> model.value(false));
            assertTrue(full.decision().isRetryUnknown());
            assertTrue(full.getMessage().contains("allowed again when another call has ended"), full.getMessage());
            CompletableFuture<Integer> waiting = model.waits();
            last.dispose();
            assertEquals(1, waiting.get(30, TimeUnit.SECONDS));
            running.forEach(one -> one.cancel(true));
            assertEquals(LIMIT, left(limiter));
            assertEquals(1, model.value(false));
        }
    }
}
