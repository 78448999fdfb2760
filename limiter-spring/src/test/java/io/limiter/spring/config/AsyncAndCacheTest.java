package io.limiter.spring.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.spring.App;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.Advised;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.concurrent.ConcurrentMapCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Beside other annotations of Spring on the same method: in the background, and with a cache. */
class AsyncAndCacheTest {
    @Configuration
    @EnableAsync
    static class Later {
        @Bean
        ThreadPoolTaskExecutor taskExecutor() {
            ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
            executor.setThreadNamePrefix("later-");
            return executor;
        }

        @Bean
        InBackground inBackground() {
            return new InBackground();
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
        try (App app = App.of("", Later.class)) {
            InBackground bean = app.bean(InBackground.class);
            assertEquals(3, ((Advised) bean).getAdvisors().length, "one proxy: async, the limit and its mark");
            assertEquals(0, App.passes(1, "192.0.2.1", null, () -> {
                ExecutionException failure = assertThrows(
                        ExecutionException.class, () -> bean.call(true).get(10, TimeUnit.SECONDS));
                assertTrue(failure.getCause() instanceof IllegalStateException);
                throw new RateLimitExceededException(denial());
            }));
            assertEquals(1, App.passes(3, "192.0.2.1", null, () -> {
                CompletableFuture<String> answer = bean.call(false);
                if (!answer.isCompletedExceptionally()) {
                    assertTrue(answer.get(10, TimeUnit.SECONDS).startsWith("later-"));
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

        @Bean
        Slow slow() {
            return new Slow();
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
        try (App app = App.of("", Cached.class)) {
            Slow slow = app.bean(Slow.class);
            assertEquals(1, slow.answer(7));
            assertEquals(1, slow.answer(7), "from the cache");
            assertThrows(RateLimitExceededException.class, () -> slow.answer(7));
        }
    }

    private static Decision denial() {
        try (RateLimiter limiter = RateLimiters.on(InProcessBackend.create())) {
            return limiter.tryAcquire(
                    App.config("limiter.policies.none.limits = 0/1h").policies().get("none"), PartitionKey.global(), 1);
        }
    }
}
