package io.limiter.spring.config;

import io.limiter.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.servlet.rejection.RejectionHandler;
import io.limiter.spring.web.RateLimitExceededAdvice;
import io.limiter.spring.web.RequestCallers;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/** Makes the beans that {@link Defaults} defines, each by the method of its name. */
final class DefaultBeans {
    private DefaultBeans() {}

    /** The limiter of a file. */
    static Limiter limiter(String location, ResourceLoader resources, Environment environment) {
        String place = environment.resolveRequiredPlaceholders(location);
        Resource resource = resources.getResource(place);
        LimiterConfig config;
        try (Reader text = new InputStreamReader(resource.getInputStream(), StandardCharsets.UTF_8.newDecoder())) {
            config = LimiterConfig.builder()
                    .text(place, text)
                    .environment(System.getenv())
                    .build();
        } catch (IOException unreadable) {
            throw new IllegalStateException(
                    "RL-108 @EnableRateLimiting(\"" + location + "\"): the file can't be read ("
                            + unreadable.getMessage() + "); add it, correct the name, or define a bean of type Limiter",
                    unreadable);
        }
        return Limiter.start(config);
    }

    static RequestCallers callerSource(Limiter limiter) {
        return new RequestCallers(limiter.config().clientIp());
    }

    static RateLimitExceededAdvice rateLimitExceededAdvice(
            Limiter limiter, ObjectProvider<RejectionHandler> ownHandler) {
        return RateLimitExceededAdvice.of(limiter, ownHandler.getIfAvailable());
    }
}
