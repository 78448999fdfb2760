package io.limiter.spring.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.Facts;
import io.limiter.spring.App;
import io.limiter.spring.CallerSource;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import io.limiter.spring.web.RateLimitExceededAdvice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Scope;
import org.springframework.core.env.MapPropertySource;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;

/** What the annotation defines, what an application can define instead, and other annotations of Spring on the same method. */
class EnableRateLimitingTest {
    @TempDir
    Path folder;

    @Configuration
    @EnableRateLimiting("file:${limiter.file}")
    static class FromAFile {}

    static class Service {
        @RateLimited(value = "one", key = "global")
        public String call() {
            return "done";
        }
    }

    @Test
    void aPropertiesFileOfTheSameGrammar() throws IOException {
        Limiter limiter;
        try (AnnotationConfigApplicationContext context = start("limiter.policies.one.limits = 1/1h\n")) {
            Service service = context.getBean(Service.class);
            assertEquals("done", service.call());
            assertThrows(RateLimitExceededException.class, service::call);
            limiter = context.getBean(Limiter.class);
            assertTrue(context.containsBean("limiter"));
            assertTrue(context.getBean("callerSource") instanceof CallerSource);
            assertTrue(context.getBean("rateLimitExceededAdvice") instanceof RateLimitExceededAdvice);
        }
        assertEquals(
                Decision.Source.FAILED_CLOSED,
                limiter.tryAcquire("one", PartitionKey.global(), 1).source(),
                "closed with the context");
    }

    @Test
    void aMistakeInTheFileStopsTheStart() {
        Facts.toldInOneLine(
                App.message(() -> start("limiter.policies.one.limit = 1/1h\n").close()),
                "line 1",
                "RL-101",
                "limiter.policies.one.limit = 1/1h",
                "'limiter.policies.one.limits'?");
    }

    @Configuration
    @EnableRateLimiting("classpath:no-such-file.properties")
    static class NoFile {}

    @Test
    void aMissingFileStopsTheStart() {
        Facts.told(
                App.message(() -> new AnnotationConfigApplicationContext(NoFile.class, Service.class).close()),
                "RL-108",
                "@EnableRateLimiting(\"classpath:no-such-file.properties\")",
                "[no-such-file.properties]",
                "does not exist",
                "type Limiter");
    }

    static class Plain {
        public String call() {
            return "done";
        }
    }

    @Test
    void whatHasNoAnnotationHasNoProxy() {
        try (App app = App.of("", Plain.class, Often.class)) {
            assertSame(Plain.class, app.bean(Plain.class).getClass());
            assertFalse(AopUtils.isAopProxy(app.bean(Limiter.class)));
        }
    }

    @Configuration
    @Scope("prototype")
    static class Often {
        @RateLimited(limits = "2/1h", key = "global")
        public String call() {
            return "done";
        }
    }

    @Test
    void beansOfOneClassShareTheirLimits() {
        try (App app = App.of("", Often.class)) {
            Often one = app.bean(Often.class);
            Often other = app.bean(Often.class);
            assertNotSame(one, other);
            assertEquals(2, App.passes(2, one::call) + App.passes(2, other::call));
        }
    }

    @ControllerAdvice
    static class OwnAdviceByName {
        @ExceptionHandler({IllegalStateException.class, RateLimitExceededException.class})
        String handle(Exception denied) {
            return "own";
        }
    }

    @Test
    void anAdviceOfTheApplicationStandsInsteadOfOurs() {
        try (App app = App.of("", OwnAdviceByName.class)) {
            assertFalse(app.context().containsBean("rateLimitExceededAdvice"));
        }
    }

    private AnnotationConfigApplicationContext start(String properties) throws IOException {
        Path file = Files.writeString(folder.resolve("limiter.properties"), properties);
        AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource("test", Map.of("limiter.file", file.toString())));
        context.register(FromAFile.class, Service.class);
        context.refresh();
        return context;
    }

    @Configuration
    @EnableAsync
    static class Later {
        @Bean
        ThreadPoolTaskExecutor taskExecutor() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setThreadNamePrefix("later-");
            return executor;
        }
    }

    static class InBackground {
        @Async
        @RateLimited(limits = "1/1h", refundOn = IllegalStateException.class)
        public CompletableFuture<String> call(boolean fail) {
            if (fail) {
                throw new IllegalStateException("free");
            }
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    @Test
    void asyncBeginsAfterTheDecisionSoTheRequestIsKnown() throws Exception {
        try (App app = App.of("", Later.class, InBackground.class)) {
            InBackground bean = app.bean(InBackground.class);
            assertEquals(3, ((Advised) bean).getAdvisors().length, "one proxy: async, the limit and its mark");
            assertEquals(1, App.passes(1, "192.0.2.1", null, () -> {
                ExecutionException failure = assertThrows(
                        ExecutionException.class, () -> bean.call(true).get(60, TimeUnit.SECONDS));
                assertTrue(failure.getCause() instanceof IllegalStateException);
                return null;
            }));
            assertEquals(1, App.passes(3, "192.0.2.1", null, () -> {
                CompletableFuture<String> answer = bean.call(false);
                if (!answer.isCompletedExceptionally()) {
                    assertTrue(answer.get(60, TimeUnit.SECONDS).startsWith("later-"));
                }
                return answer;
            }));
        }
    }

    @Configuration
    @EnableCaching
    static class Cached {
        @Bean
        ConcurrentMapCacheManager cacheManager() {
            return new ConcurrentMapCacheManager();
        }
    }

    static class Slow {
        private int ran;

        @Cacheable("answers")
        @RateLimited(limits = "2/1h", key = "global")
        public int answer(int question) {
            return ++ran;
        }
    }

    @Test
    void anAnswerFromACacheIsCounted() {
        try (App app = App.of("", Cached.class, Slow.class)) {
            Slow slow = app.bean(Slow.class);
            assertEquals(1, slow.answer(7));
            assertEquals(1, slow.answer(7), "from the cache");
            assertThrows(RateLimitExceededException.class, () -> slow.answer(7));
        }
    }
}
