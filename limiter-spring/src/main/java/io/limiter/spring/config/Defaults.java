package io.limiter.spring.config;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.internal.web.WebBeans;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.core.env.Environment;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.util.StringUtils;

/** Defines the limiter of the file, if the application has not defined one, when all of its definitions are known. */
final class Defaults implements BeanDefinitionRegistryPostProcessor, BeanFactoryInitializationAotProcessor {
    private final String location;
    private final String place;

    Defaults(String location, Environment environment) {
        this.location = location;
        this.place = environment.resolvePlaceholders(location);
    }

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        if (WebBeans.isMissing(Limiter.class, (ListableBeanFactory) registry)) {
            WebBeans.define("limiter", Defaults.class, "start", registry)
                    .getConstructorArgumentValues()
                    .addIndexedArgumentValue(0, location);
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

    /** A native image contains only registered files; a file in a directory is read at run time. */
    @Override
    public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
            ConfigurableListableBeanFactory beanFactory) {
        return place.startsWith(ResourceLoader.CLASSPATH_URL_PREFIX)
                ? (generation, code) -> generation
                        .getRuntimeHints()
                        .resources()
                        .registerPattern(
                                StringUtils.cleanPath(place.substring(ResourceLoader.CLASSPATH_URL_PREFIX.length()))
                                        .replaceFirst("^/", ""))
                : null;
    }
}
