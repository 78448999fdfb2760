package io.limiter.spring.config;

import io.limiter.Limiter;
import io.limiter.config.LimiterConfig;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/** The limiter of the file that {@link EnableRateLimiting} names. */
final class LimiterOfFile {
    private LimiterOfFile() {}

    static Limiter start(String location, ResourceLoader resources, Environment environment) {
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
}
