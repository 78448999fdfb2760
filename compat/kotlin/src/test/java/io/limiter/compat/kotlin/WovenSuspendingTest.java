package io.limiter.compat.kotlin;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.aop.RateLimiting;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A suspend function that RateLimitAspect is woven into fails, as no decision of a proxy is known there. */
@Tag("woven")
class WovenSuspendingTest {
    @Test
    void failsRatherThanNotBeLimited() throws Exception {
        ExecutorService loop = Executors.newSingleThreadExecutor();
        try (Limiter limiter = Limiter.start(LimiterConfig.builder().build());
                RateLimiting used = RateLimiting.use(limiter)) {
            CompletableFuture<Object> call = Coroutines.run(loop, new Suspending(), "rate");
            Throwable failure =
                    assertThrows(CompletionException.class, call::join).getCause();
            assertTrue(failure.getMessage().startsWith("RL-131 @RateLimited at "), failure::toString);
        } finally {
            loop.shutdown();
        }
    }

    @Test
    void isReportedAsNotWoven() {
        IllegalStateException failure =
                assertThrows(IllegalStateException.class, () -> RateLimiting.requireWoven(Suspending.class));
        assertTrue(failure.getMessage().contains("Suspending.rate(String)"), failure::toString);
    }
}
