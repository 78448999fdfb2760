package io.limiter.webflux;

import io.limiter.application.Limiter;
import io.limiter.http.internal.BeforeTheDoor;
import io.limiter.spring.boot.LimiterAutoConfiguration;
import io.limiter.spring.boot.internal.FilterPlaces;
import io.limiter.spring.boot.internal.RequestExplainer;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.http.server.reactive.HttpHandlerDecoratorFactory;
import org.springframework.util.ClassUtils;
import org.springframework.web.filter.reactive.HiddenHttpMethodFilter;
import org.springframework.web.server.adapter.ForwardedHeaderTransformer;

/**
 * For WebFlux applications, in addition to {@link LimiterAutoConfiguration}: the configured rules, in a filter before Spring
 * Security, and those that are decided after authentication in a second one after it.
 */
@AutoConfiguration(after = LimiterAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnProperty(name = "limiter.enabled", matchIfMissing = true)
class LimiterWebFluxAutoConfiguration {
    private static final Logger LOG = LoggerFactory.getLogger(LimiterWebFluxAutoConfiguration.class);

    /** Spring Security's, in its own module. */
    private static final String SECURITY = "org.springframework.security.web.server.WebFilterChainProxy";

    /** With it the server is Netty in most applications. In others each request shows that Tomcat has taken a header away. */
    private static final String NETTY = "reactor.netty.http.server.HttpServer";

    /** Where Spring Security is; WebFlux has no property for it. */
    private static final int OF_SECURITY = -100;

    /** Shows the filters the peer, which WebFlux hides behind the address of a forwarded header. */
    @Bean("io.limiter.webflux.receivedRequests")
    static HttpHandlerDecoratorFactory receivedRequests() {
        return RateLimitWebFilter::showingReceived;
    }

    /** Explains requests to the endpoint. */
    @Bean("io.limiter.webflux.requestExplainer")
    RequestExplainer requestExplainer(ListableBeanFactory beans) {
        return RequestExplainer.of(
                beans, RateLimitWebFilter.class, (name, filter) -> filter.getOrder(), SECURITY, OF_SECURITY);
    }

    /** The rules, in two filters, unless the application has one. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = FilterPlaces.ENABLED, matchIfMissing = true)
    @ConditionalOnMissingBean(RateLimitWebFilter.class)
    static class Filters {
        @Bean("io.limiter.webflux.rateLimitFilter")
        RateLimitWebFilter rateLimitFilter(
                Limiter limiter, ListableBeanFactory beans, ConfigurableEnvironment environment) {
            String transformer = beans.getBeanNamesForType(ForwardedHeaderTransformer.class, true, false).length > 0
                    ? ForwardedHeaderTransformer.class.getSimpleName()
                    : null;
            int order = FilterPlaces.first(environment, OF_SECURITY);
            boolean isTomcat = ClassUtils.isPresent(FilterPlaces.VALVE, null) && !ClassUtils.isPresent(NETTY, null);
            FilterPlaces.checkAddresses(limiter, environment, isTomcat, transformer);
            if (beans.getBeanNamesForType(HiddenHttpMethodFilter.class, true, false).length > 0) {
                limiter.derive(config -> BeforeTheDoor.methodFindings(
                                config.settings(), config.settings().rules(), "HiddenHttpMethodFilter"))
                        .reporting(LOG::warn, found -> found);
            }
            return filter(limiter, beans, environment, order, RateLimitWebFilter.Builder::rulesBeforeAuthentication);
        }

        @Bean("io.limiter.webflux.rateLimitUserFilter")
        RateLimitWebFilter rateLimitUserFilter(
                Limiter limiter, ListableBeanFactory beans, ConfigurableEnvironment environment) {
            int order = FilterPlaces.afterAuthentication(environment, OF_SECURITY);
            return filter(limiter, beans, environment, order, RateLimitWebFilter.Builder::rulesAfterAuthentication);
        }

        private static RateLimitWebFilter filter(
                Limiter limiter,
                ListableBeanFactory beans,
                ConfigurableEnvironment environment,
                int order,
                UnaryOperator<RateLimitWebFilter.Builder> which) {
            return which.apply(FilterPlaces.withBeans(
                            RateLimitWebFilter.builder(limiter), WebRejectionHandler.class, beans))
                    .order(order)
                    .basePath(environment.getProperty("spring.webflux.base-path", ""))
                    .build();
        }
    }
}
