package io.limiter.webflux.gateway;

import io.limiter.application.Limiter;
import io.limiter.http.internal.HeldPlaces;
import io.limiter.spring.boot.LimiterAutoConfiguration;
import io.limiter.spring.boot.internal.FilterPlaces;
import io.limiter.spring.internal.RateLimitedPostProcessor;
import io.limiter.webflux.RateLimitWebFilter;
import io.limiter.webflux.WebRejectionHandler;
import java.util.stream.Collectors;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.event.ApplicationStartedEvent;
import org.springframework.cloud.gateway.event.RefreshRoutesResultEvent;
import org.springframework.cloud.gateway.filter.factory.AbstractGatewayFilterFactory;
import org.springframework.cloud.gateway.filter.factory.RequestRateLimiterGatewayFilterFactory;
import org.springframework.cloud.gateway.route.Route;
import org.springframework.cloud.gateway.route.RouteLocator;
import org.springframework.cloud.gateway.support.ConfigurationService;
import org.springframework.context.ApplicationListener;
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
class LimiterGatewayAutoConfiguration {
    /** The filter {@code Limiter} of routes. */
    @Bean("io.limiter.webflux.gatewayFilterFactory")
    static LimiterGatewayFilterFactory filterFactory(Limiter limiter, ListableBeanFactory beans) {
        return new LimiterGatewayFilterFactory(
                new HeldPlaces(limiter),
                () -> FilterPlaces.withBeans(RateLimitWebFilter.builder(limiter), WebRejectionHandler.class, beans));
    }

    /** For the filter {@code RequestRateLimiter}. Routes that name no limiter keep the one that they have. */
    @Bean("limiterRateLimiter")
    @Fallback
    static GatewayRateLimiter rateLimiter(
            Limiter limiter,
            ConfigurationService arguments,
            ObjectProvider<RequestRateLimiterGatewayFilterFactory> factories) {
        return new GatewayRateLimiter(limiter, arguments, () -> {
            RequestRateLimiterGatewayFilterFactory factory = factories.getIfUnique();
            return factory == null ? null : factory.getDefaultRateLimiter();
        });
    }

    /** Forgets what routes had that there are no more. */
    @Bean("io.limiter.webflux.removedRoutes")
    static ApplicationListener<RefreshRoutesResultEvent> removedRoutes(
            LimiterGatewayFilterFactory filters, GatewayRateLimiter limiter) {
        return changed -> {
            if (changed.isSuccess() && changed.getSource() instanceof RouteLocator now) {
                now.getRoutes().collectList().subscribe(routes -> {
                    limiter.retain(routes.stream().map(Route::getId).collect(Collectors.toSet()));
                    filters.retain(routes.stream()
                            .flatMap(route -> route.getFilters().stream())
                            .collect(Collectors.toSet()));
                });
            }
        };
    }

    /** Fails startup if a route has a mistake; and warns of policies that no route has either. */
    @Bean(RateLimitedPostProcessor.LATER_REPORT)
    static ApplicationListener<ApplicationStartedEvent> checkedRoutes(
            LimiterGatewayFilterFactory filters, GatewayRateLimiter limiter, ListableBeanFactory beans) {
        return started -> {
            filters.check();
            limiter.check();
            RateLimitedPostProcessor.reportUnusedPolicies(beans);
        };
    }
}
