package io.limiter.compat.kotlin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.config.EnableRateLimiting;
import java.io.StringReader;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import redis.embedded.RedisServer;

/** Suspend functions are decided without a thread, and end when the coroutine ends. */
@Tag("proxied")
class SuspendingTest {
    private static final Duration LONGEST = Duration.ofSeconds(60);

    /** All coroutines of a test run on it, as on the one thread of an event loop. */
    private final ExecutorService loop = Executors.newSingleThreadExecutor(task -> new Thread(task, "loop"));

    @Configuration(proxyBeanMethods = false)
    @EnableRateLimiting
    static class OfClasses {}

    @AfterEach
    void stop() {
        loop.shutdown();
    }

    private static AnnotationConfigApplicationContext start(String config, Class<?>... beans) throws Exception {
        Limiter limiter = Limiter.start(
                LimiterConfig.builder().text("test", new StringReader(config)).build());
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.registerBean(Limiter.class, () -> limiter);
        context.register(OfClasses.class);
        context.register(beans);
        context.refresh();
        return context;
    }

    private CompletableFuture<Object> call(Suspending bean, String name) {
        return Coroutines.run(loop, bean, name);
    }

    /** The result of a call, or the class of its failure. */
    private Object answer(Suspending bean, String name) throws Exception {
        try {
            return call(bean, name).get(60, TimeUnit.SECONDS);
        } catch (ExecutionException failed) {
            return failed.getCause().getClass();
        }
    }

    private List<Object> answers(Suspending bean, String name) throws Exception {
        List<Object> answers = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            answers.add(answer(bean, name));
        }
        return answers;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rate", "nothing", "take", "generic", "flow"})
    void ofFiveCallsThreeAreDenied(String name) throws Exception {
        try (AnnotationConfigApplicationContext context = start("", Suspending.class)) {
            List<Object> answers = answers(context.getBean(Suspending.class), name);
            assertFalse(answers.subList(0, 2).contains(RateLimitExceededException.class), answers::toString);
            assertEquals(
                    List.of(
                            RateLimitExceededException.class,
                            RateLimitExceededException.class,
                            RateLimitExceededException.class),
                    answers.subList(2, 5));
        }
    }

    /** What an HTTP client of Spring and a repository return, and what Retrofit's does. */
    @Configuration(proxyBeanMethods = false)
    static class Clients {
        @Bean
        SuspendingClient advised() {
            return ProxyFactory.getProxy(SuspendingClient.class, (MethodInterceptor)
                    call -> Mono.just("done").publishOn(Schedulers.parallel()));
        }

        @Bean
        SuspendingClient proxy() {
            return (SuspendingClient) Proxy.newProxyInstance(
                    SuspendingClient.class.getClassLoader(),
                    new Class<?>[] {SuspendingClient.class},
                    (proxy, method, arguments) -> "done");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"advised", "proxy"})
    void clientsAreLimited(String name) throws Exception {
        try (AnnotationConfigApplicationContext context = start("", Clients.class)) {
            SuspendingClient client = context.getBean(name, SuspendingClient.class);
            List<Object> answers = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                answers.add(Coroutines.run(loop, client, true)
                        .handle((result, failure) -> failure == null ? result : failure.getClass())
                        .get(60, TimeUnit.SECONDS));
            }
            assertEquals(
                    List.of(
                            "done",
                            "done",
                            RateLimitExceededException.class,
                            RateLimitExceededException.class,
                            RateLimitExceededException.class),
                    answers);
        }
    }

    @Test
    void aFailureIsRefunded() throws Exception {
        try (AnnotationConfigApplicationContext context = start("", Suspending.class)) {
            List<Object> answers = answers(context.getBean(Suspending.class), "refunded");
            assertEquals(
                    List.of(
                            IllegalStateException.class,
                            IllegalStateException.class,
                            IllegalStateException.class,
                            IllegalStateException.class,
                            IllegalStateException.class),
                    answers);
        }
    }

    @Test
    void theResultSettlesTheEstimate() throws Exception {
        try (AnnotationConfigApplicationContext context = start("", Suspending.class)) {
            // Of 10: 1, 1, 1, 1 and 5 are taken, where two estimates would be all.
            assertEquals(List.of("1", "1", "1", "1", "1"), answers(context.getBean(Suspending.class), "settled"));
        }
    }

    @Test
    void aFallbackMaySuspendOrNot() throws Exception {
        try (AnnotationConfigApplicationContext context = start("", Suspending.class)) {
            Suspending bean = context.getBean(Suspending.class);
            List<Object> answers = answers(bean, "withFallback");
            assertEquals(List.of("ann", "ann"), answers.subList(0, 2));
            assertEquals(
                    3,
                    answers.stream()
                            .filter(one -> String.valueOf(one).startsWith("instead of ann: false loop"))
                            .count(),
                    answers::toString);
            assertEquals(List.of("ann", "ann", "instead", "instead", "instead"), answers(bean, "withPlainFallback"));
        }
    }

    @Test
    void asManyRunAtOnceAsAreAllowed() throws Exception {
        try (AnnotationConfigApplicationContext context = start("", Suspending.class)) {
            Suspending bean = context.getBean(Suspending.class);
            List<CompletableFuture<Object>> calls = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                calls.add(call(bean, "concurrent"));
            }
            Await.until(
                    LONGEST,
                    "8 are denied",
                    () -> calls.stream().filter(CompletableFuture::isDone).count() == 8);
            Await.until(LONGEST, "the others run", () -> bean.running() == 2);
            bean.open();
            List<String> answers = new ArrayList<>();
            for (CompletableFuture<Object> one : calls) {
                answers.add(one.handle((result, failure) -> String.valueOf(failure == null ? result : failure))
                        .get(60, TimeUnit.SECONDS));
            }
            assertEquals(2, answers.stream().filter("1"::equals).count(), answers::toString);
            assertEquals(2, bean.most());
            assertEquals(1, answer(bean, "concurrent"), "both have ended");
        }
    }

    @Test
    void aCancelledCoroutineHasEnded() throws Exception {
        try (AnnotationConfigApplicationContext context = start("", Suspending.class)) {
            Suspending bean = context.getBean(Suspending.class);
            for (int i = 1; i <= 3; i++) {
                int begun = i;
                CompletableFuture<Object> call = call(bean, "forever");
                Await.until(LONGEST, "call " + i + " runs", () -> bean.begun() == begun);
                assertEquals(RateLimitExceededException.class, answer(bean, "forever"));
                assertTrue(call.cancel(true));
                Await.until(LONGEST, "it has ended", () -> bean.ended() == begun);
            }
        }
    }

    @Test
    void theThreadDoesOtherThingsWhileRedisIsPaused() throws Exception {
        RedisServer redis = RedisServers.startAnywhere();
        int port = redis.ports().get(0);
        long process = RedisServers.pid(port);
        try (AnnotationConfigApplicationContext context = start(
                "limiter.redis.address = redis://127.0.0.1:" + port
                        + "\nlimiter.redis.deadline = 30s\nlimiter.redis.startup-wait = 60s\n",
                Suspending.class)) {
            Suspending bean = context.getBean(Suspending.class);
            assertEquals("ann", answer(bean, "rate"));
            RedisServers.signal("STOP", process);
            CompletableFuture<Object> waiting = call(bean, "rate");
            CompletableFuture<Boolean> unrelated = CompletableFuture.supplyAsync(waiting::isDone, loop);
            assertFalse(unrelated.get(60, TimeUnit.SECONDS), "the other one was not decided");
            RedisServers.signal("CONT", process);
            waiting.handle((result, failure) -> result).get(60, TimeUnit.SECONDS);
        } finally {
            RedisServers.signal("CONT", process);
            RedisServers.stop(redis);
        }
    }
}
