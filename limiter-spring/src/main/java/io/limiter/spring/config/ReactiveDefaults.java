package io.limiter.spring.config;

import io.limiter.spring.web.RateLimitExceededAdvice;
import io.limiter.spring.webflux.RateLimitExceededWebHandler;
import io.limiter.spring.webflux.ReactiveRateLimitExceededAdvice;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.web.server.WebHandler;

/** What {@link Defaults} defines in an application with WebFlux. Loaded there alone. */
final class ReactiveDefaults {
    private ReactiveDefaults() {}

    /** Whether the context has WebFlux: a program may have the library for its client alone. */
    static boolean areFor(ConfigurableListableBeanFactory factory) {
        return factory.getBeanNamesForType(WebHandler.class, true, false).length > 0;
    }

    static void define(BeanDefinitionRegistry registry, ConfigurableListableBeanFactory factory) {
        if (Defaults.isMissing(RateLimitExceededWebHandler.class, factory)) {
            Defaults.define(
                    DefaultReactiveBeans.class,
                    "rateLimitExceededWebHandler",
                    RateLimitExceededWebHandler.class,
                    registry);
        }
        if (Defaults.isMissing(ReactiveRateLimitExceededAdvice.class, factory)
                && !RateLimitExceededAdvice.isReplaced(factory)) {
            Defaults.define(
                    DefaultReactiveBeans.class,
                    "reactiveRateLimitExceededAdvice",
                    ReactiveRateLimitExceededAdvice.class,
                    registry);
        }
    }
}
