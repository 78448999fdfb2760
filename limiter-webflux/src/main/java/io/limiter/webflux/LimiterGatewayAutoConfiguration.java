package io.limiter.webflux;

import io.limiter.application.Limiter;
import io.limiter.spring.boot.LimiterAutoConfiguration;
import io.limiter.spring.boot.internal.HeldRequestsLifecycle;
import java.util.List;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.ApplicationListener;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Fallback;

/** For Spring Cloud Gateway on WebFlux: what its routes name, besides the filters before them. Also if nothing is to be limited. */
@AutoConfiguration(
        after = LimiterAutoConfiguration.class,
        // It asks whether there is a limiter.
        beforeName = "org.springframework.cloud.gateway.config.GatewayAutoConfiguration")
@ConditionalOnClass(AbstractGatewayFilterFactory.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnProperty(name = "spring.cloud.gateway.server.webflux.enabled", matchIfMissing = true)
public class LimiterGatewayAutoConfiguration {
    /** Called by Spring Boot. */
    public LimiterGatewayAutoConfiguration() {}

    /** The filter {@code Limiter} of routes. */
    @Bean("io.limiter.webflux.gatewayFilterFactory")
    static LimiterGatewayFilterFactory filterFactory(Limiter limiter, ListableBeanFactory beans) {
        return new LimiterGatewayFilterFactory(() -> LimiterWebFluxAutoConfiguration.builder(limiter, beans));
    }

    /** For the filter {@code RequestRateLimiter}. Routes that name no limiter keep the one that they have. */
    @Bean("limiterRateLimiter")
    @Fallback
    static GatewayRateLimiter rateLimiter(Limiter limiter, ConfigurationService arguments) {
        return new GatewayRateLimiter(limiter, arguments);
    }

    /** As for the filters before the routes, but these filters are made later. */
    @Bean("io.limiter.webflux.heldGatewayRequests")
    static SmartLifecycle heldRequests(LimiterGatewayFilterFactory filters) {
        return new HeldRequestsLifecycle<>(
                () -> List.of(filters),
                LimiterGatewayFilterFactory::startHolding,
                LimiterGatewayFilterFactory::stopHolding);
    }

    /** Fails startup if a route has a mistake. */
    @Bean("io.limiter.webflux.checkedRoutes")
    static ApplicationListener<ApplicationStartedEvent> checkedRoutes(
            LimiterGatewayFilterFactory filters, GatewayRateLimiter limiter) {
        return started -> {
            filters.check();
            limiter.check();
        };
    }
}
