package io.limiter.spring.optional;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.RateLimited;
import io.limiter.spring.config.EnableRateLimiting;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;

/** A small application, run by {@link OptionalLibrariesTest} without libraries that it does not need. */
public final class InAContext implements Callable<String> {
    @Configuration
    @EnableRateLimiting
    static class Settings {}

    public static class Service {
        @RateLimited(limits = "1/1h", key = "#user")
        public String value(String user) {
            return "hello " + user;
        }

        @RateLimited(limits = "1/1h", key = "#user", name = "stage")
        public CompletableFuture<String> stage(String user) {
            return CompletableFuture.completedFuture("hello " + user);
        }
    }

    @Override
    public String call() throws Exception {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
            context.registerBean(
                    Limiter.class, () -> Limiter.start(LimiterConfig.builder().build()));
            context.register(Settings.class, Service.class);
            context.refresh();
            Service service = context.getBean(Service.class);
            String answers = service.value("bob") + ", " + service.stage("bob").get();
            try {
                return answers + ", " + service.value("bob");
            } catch (RateLimitExceededException denied) {
                return answers + ", denied";
            }
        }
    }
}
