package io.limiter.spring.config;

import io.limiter.Limiter;
import io.limiter.spring.webflux.RateLimitExceededWebHandler;
import io.limiter.spring.webflux.ReactiveRateLimitExceededAdvice;

/** Those of {@link DefaultBeans} that only an application with WebFlux can load, each made by the method of its name. */
final class DefaultReactiveBeans {
    private DefaultReactiveBeans() {}

    static RateLimitExceededWebHandler rateLimitExceededWebHandler(Limiter limiter) {
        return new RateLimitExceededWebHandler(limiter);
    }

    static ReactiveRateLimitExceededAdvice reactiveRateLimitExceededAdvice(RateLimitExceededWebHandler handler) {
        return new ReactiveRateLimitExceededAdvice(handler);
    }
}
