package io.limiter.spring.boot;

import io.limiter.application.Limiter;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.servlet.rejection.RejectionHandler;
import io.limiter.spring.boot.internal.FilterPlaces;
import io.limiter.spring.internal.web.WebBeans;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.util.function.UnaryOperator;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.util.ClassUtils;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * For servlet applications, in addition to {@link LimiterAutoConfiguration}: the configured rules, in a filter before
 * Spring Security, and those that are decided after authentication in a second one after it; the caller of a limited
 * method; and the 429 response of a denied one.
 */
@AutoConfiguration(after = LimiterAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({Filter.class, RequestContextHolder.class})
@ConditionalOnProperty(name = ApplicationText.ENABLED, matchIfMissing = true)
@Import(WebBeans.class)
class LimiterServletAutoConfiguration {
    @Bean("io.limiter.spring.heldServletRequests")
    SmartLifecycle heldRequests(ObjectProvider<FilterRegistrationBean<?>> registrations) {
        return new HeldRequestsLifecycle(() -> registrations.stream()
                .map(FilterRegistrationBean::getFilter)
                .filter(RateLimitFilter.class::isInstance)
                .map(RateLimitFilter.class::cast)
                .toList());
    }

    /** The rules, in two filters, unless the application has registered one. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = FilterPlaces.ENABLED, matchIfMissing = true)
    @ConditionalOnMissingBean(value = RateLimitFilter.class, parameterizedContainer = FilterRegistrationBean.class)
    static class Filters {
        private static final String FILTER = FilterPlaces.FILTERS.get(0);
        private static final String USER_FILTER = "io.limiter.spring.rateLimitUserFilter";

        /** The default of {@code spring.security.filter.order}. */
        static final int OF_SECURITY = -100;

        @Bean("io.limiter.spring.rateLimitFilter")
        FilterRegistrationBean<RateLimitFilter> rateLimitFilter(
                Limiter limiter, ListableBeanFactory beans, ConfigurableEnvironment environment) {
            int order = FilterPlaces.first(environment, orderOfSecurity(environment));
            FilterPlaces.checkAddresses(limiter, environment, ClassUtils.isPresent(FilterPlaces.VALVE, null), null);
            return registration(FILTER, order, limiter, beans, RateLimitFilter.Builder::rulesBeforeAuthentication);
        }

        @Bean(USER_FILTER)
        FilterRegistrationBean<RateLimitFilter> rateLimitUserFilter(
                Limiter limiter, ListableBeanFactory beans, ConfigurableEnvironment environment) {
            int order = FilterPlaces.afterAuthentication(environment, orderOfSecurity(environment));
            return registration(USER_FILTER, order, limiter, beans, RateLimitFilter.Builder::rulesAfterAuthentication);
        }

        private static int orderOfSecurity(ConfigurableEnvironment environment) {
            return environment.getProperty("spring.security.filter.order", Integer.class, OF_SECURITY);
        }

        /** Registered even without rules: a configuration that replaces this one may have some. */
        private static FilterRegistrationBean<RateLimitFilter> registration(
                String name,
                int order,
                Limiter limiter,
                ListableBeanFactory beans,
                UnaryOperator<RateLimitFilter.Builder> which) {
            FilterRegistrationBean<RateLimitFilter> registration = new FilterRegistrationBean<>(
                    which.apply(FilterPlaces.withBeans(RateLimitFilter.builder(limiter), RejectionHandler.class, beans))
                            .build());
            // A short name could be that of a filter of the application.
            registration.setName(name);
            registration.setOrder(order);
            registration.addUrlPatterns("/*");
            registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.FORWARD, DispatcherType.ASYNC);
            return registration;
        }
    }
}
