package io.limiter.spring.weaving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Decision;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import io.limiter.spring.App;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Asynchronous methods under 64 parallel callers, on a Redis that nobody can reach until all of them have called: a caller
 * that waited would never return. Runs proxied and woven.
 */
class AsyncTest {
    private static final int CALLERS = 64;
    private static final int LIMIT = 20;
    private static final String POLICY = "limiter.policies.shared.limits = " + LIMIT + "/1h\n";

    static class Service {
        final AtomicInteger ran = new AtomicInteger();
        final List<String> threads = new ArrayList<>();

        @RateLimited(value = "shared", key = "#who")
        public CompletionStage<String> stage(String who) {
            return CompletableFuture.completedStage(run());
        }

        @RateLimited(value = "shared", key = "#who")
        public CompletableFuture<String> completable(String who) {
            return CompletableFuture.supplyAsync(this::run);
        }

        @RateLimited(value = "shared", key = "#who")
        public Mono<String> mono(String who) {
            return Mono.fromCallable(this::run);
        }

        @RateLimited(value = "shared", key = "#who")
        public Flux<String> flux(String who) {
            return Flux.just(run(), "more");
        }

        @RateLimited(value = "shared", key = "#who")
        public String value(String who) {
            return run();
        }

        private synchronized String run() {
            ran.incrementAndGet();
            threads.add(Thread.currentThread().getName());
            return "done";
        }

        public int runs() {
            return ran.get();
        }

        public synchronized void forget() {
            ran.set(0);
            threads.clear();
        }

        public synchronized List<String> threads() {
            return threads;
        }
    }

    /** How a call is made; all of them come back with something that can be waited for later. */
    enum Style {
        STAGE(service -> service.stage("stage").toCompletableFuture()),
        COMPLETABLE(service -> service.completable("completable")),
        MONO(service -> service.mono("mono").toFuture()),
        FLUX(service -> service.flux("flux").collectList().toFuture());

        final Function<Service, Future<?>> call;

        Style(Function<Service, Future<?>> call) {
            this.call = call;
        }
    }

    @ParameterizedTest
    @EnumSource(Style.class)
    void callersReturnWhileRedisIsSilent(Style style) throws Exception {
        try (Wire wire = Wire.to(RedisServers.singlePort());
                Limited<Service> limited = onRedis(wire)) {
            Service service = limited.object();
            wire.cut();
            List<Future<?>> answers = AtOnce.call(CALLERS, thread -> style.call.apply(service));
            try {
                assertEquals(0, service.runs());
                assertTrue(answers.stream().noneMatch(Future::isDone), "nobody can have decided yet");
            } finally {
                wire.repair();
            }
            assertEquals(
                    LIMIT,
                    answers.stream().filter(answer -> App.passes(() -> answer)).count());
            assertEquals(LIMIT, service.runs());
            assertTrue(
                    service.threads().stream().noneMatch(name -> name.contains("redisson")),
                    () -> "a method ran on a thread of the Redis client: " + service.threads());
        }
    }

    static class Reactive {
        final AtomicInteger assembled = new AtomicInteger();

        @RateLimited(limits = "3/1h", key = "#who", refundOn = IllegalStateException.class)
        public Mono<String> greet(String who) {
            assembled.incrementAndGet();
            return who.equals("fail") ? Mono.error(new IllegalStateException("no")) : Mono.just("hello " + who);
        }

        @RateLimited(limits = "1/1h", key = "#who", fallback = "none")
        public Flux<String> stream(String who) {
            return Flux.just(who, who);
        }

        private Flux<String> none(String who, Decision decision) {
            return Flux.just("denied " + decision.violated().size());
        }

        public int assembled() {
            return assembled.get();
        }
    }

    @Test
    void reactiveMethodsAreDecidedEachTimeThatSomebodySubscribes() throws Exception {
        try (Limited<Reactive> limited = Limited.of(Reactive.class, "", RateLimiters.on(InProcessBackend.create()))) {
            Reactive reactive = limited.object();
            Mono<String> greeting = reactive.greet("bob");
            assertEquals(0, reactive.assembled(), "nothing happens before somebody subscribes");
            for (int i = 0; i < 3; i++) {
                assertEquals("hello bob", greeting.block());
            }
            assertThrows(RateLimitExceededException.class, greeting::block);
            assertEquals(3, reactive.assembled());
            for (int i = 0; i < 9; i++) {
                assertThrows(IllegalStateException.class, reactive.greet("fail")::block);
            }
            assertEquals(List.of("x", "x"), reactive.stream("x").collectList().block());
            assertEquals(List.of("denied 1"), reactive.stream("x").collectList().block());
        }
    }

    static class Failing {
        @RateLimited(limits = "1/1h", key = "'s'", refundOn = IllegalStateException.class, fallback = "instead")
        public CompletionStage<String> stage(Throwable failure) {
            return CompletableFuture.failedStage(failure);
        }

        private CompletionStage<String> instead(Throwable failure) {
            return CompletableFuture.completedStage("instead");
        }

        @RateLimited(limits = "1/1h", key = "'t'", refundOn = IllegalStateException.class)
        public CompletionStage<String> thrown(RuntimeException failure) {
            throw failure;
        }

        @RateLimited(limits = "1/1h", key = "'f'", refundOn = IllegalStateException.class)
        public Future<String> future(RuntimeException failure) {
            throw failure;
        }
    }

    @Test
    void whatFailsLaterGivesBackToo() throws Exception {
        try (Limited<Failing> limited = Limited.of(Failing.class, "", RateLimiters.on(InProcessBackend.create()))) {
            Failing failing = limited.object();
            IllegalStateException free = new IllegalStateException("free");
            IllegalArgumentException costs = new IllegalArgumentException("costs");
            for (int i = 0; i < 5; i++) {
                assertEquals(free, failure(failing.stage(free)));
                assertEquals(free, assertThrows(IllegalStateException.class, () -> failing.thrown(free)));
                assertEquals(free, assertThrows(IllegalStateException.class, () -> failing.future(free)));
            }
            assertEquals(costs, failure(failing.stage(costs)));
            assertEquals("instead", failing.stage(free).toCompletableFuture().get());
            assertEquals(costs, assertThrows(IllegalArgumentException.class, () -> failing.thrown(costs)));
            assertInstanceOf(RateLimitExceededException.class, failure(failing.thrown(free)));
            assertEquals(costs, assertThrows(IllegalArgumentException.class, () -> failing.future(costs)));
            assertThrows(RateLimitExceededException.class, () -> failing.future(free), "a plain future is a value");
        }
    }

    private static Throwable failure(CompletionStage<?> stage) {
        try {
            stage.toCompletableFuture().join();
            throw new AssertionError("it did not fail");
        } catch (CompletionException failed) {
            return failed.getCause();
        }
    }

    /**
     * Redis through the wire, found before the test begins. It can be silent for as long as 64 threads need on a busy machine: the
     * client's own pings would end the connection, and the calls on it, after 2 to 3 s.
     */
    private static Limited<Service> onRedis(Wire wire) {
        Backend backend = Backends.connected(Backends.withoutPings(wire.address()));
        Limited<Service> limited = Limited.of(Service.class, POLICY, RateLimiters.on(backend));
        assertEquals("done", limited.object().value("first"));
        limited.object().forget();
        return limited;
    }
}
