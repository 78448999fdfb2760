package io.limiter.spring.config;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.internal.web.WebBeans;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;

/** Defines the limiter of the file, if the application has not defined one, when all of its definitions are known. */
final class Defaults implements BeanDefinitionRegistryPostProcessor {
    private static final Logger LOG = LoggerFactory.getLogger(Defaults.class);

    /** The bean of the auto-configuration, by name, because this package must not depend on its type. */
    private static final String LIMITER_OF_BOOT = "io.limiter.spring.limiter";

    private final String location;
    private final String place;
    private final ResourceLoader resources;

    Defaults(String location, ResourceLoader resources, Environment environment) {
        this.location = location;
        this.place = environment.resolvePlaceholders(location);
        this.resources = resources;
    }

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        if (WebBeans.isMissing(Limiter.class, (ListableBeanFactory) registry)) {
            WebBeans.define("limiter", Defaults.class, "start", registry)
                    .getConstructorArgumentValues()
                    .addIndexedArgumentValue(0, location);
        } else if (registry.containsBeanDefinition(LIMITER_OF_BOOT)
                && resources.getResource(place).exists()) {
            // A leftover annotation is not a mistake, but limits that are not applied are.
            LOG.warn(
                    "RL-117 {} is not read, because Spring Boot configures the limiter; write spring.config.import = {}, or"
                            + " move its lines to application.yml, and remove @EnableRateLimiting",
                    place,
                    place);
        }
    }

    /** The limiter of the file that {@link EnableRateLimiting} names. */
    static Limiter start(String location, ResourceLoader resources, Environment environment) {
        String place = environment.resolveRequiredPlaceholders(location);
        Resource resource = resources.getResource(place);
        try (Reader text = new InputStreamReader(resource.getInputStream(), StandardCharsets.UTF_8.newDecoder())) {
            return Limiter.start(LimiterConfig.builder()
                    .text(place, text)
                    .environment(System.getenv())
                    .build());
        } catch (IOException unreadable) {
            throw new IllegalStateException(
                    "RL-108 @EnableRateLimiting(\"" + location + "\"): the file can't be read ("
                            + unreadable.getMessage() + "); add it, correct the name, or define a bean of type Limiter",
                    unreadable);
        }
    }
}
