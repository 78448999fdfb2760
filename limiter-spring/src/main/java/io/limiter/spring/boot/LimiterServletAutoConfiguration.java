package io.limiter.spring.boot;

import io.limiter.DiagnosticLog;
import io.limiter.Limiter;
import io.limiter.config.KeyPart;
import io.limiter.config.RuleDefinition;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.servlet.RejectionHandler;
import io.limiter.spring.CallerSource;
import io.limiter.spring.web.RateLimitExceededAdvice;
import io.limiter.spring.web.RequestCallers;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.util.EnumSet;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.web.context.request.RequestContextHolder;

/**
 * What a servlet web application has besides {@link LimiterAutoConfiguration}: the rules of the configuration, in a filter before
 * Spring Security, and those that are keyed by user in a second one behind it; who calls a limited method; and the 429 of a
 * denied one.
 */
@AutoConfiguration(after = LimiterAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({Filter.class, RequestContextHolder.class})
@ConditionalOnProperty(name = BootKeys.ENABLED, matchIfMissing = true)
public class LimiterServletAutoConfiguration {
    private static final Logger LOG = DiagnosticLog.of(LimiterServletAutoConfiguration.class);

    /** Made by Spring Boot. */
    public LimiterServletAutoConfiguration() {}

    @Bean("io.limiter.spring.callerSource")
    @ConditionalOnMissingBean(CallerSource.class)
    RequestCallers callerSource(Limiter limiter) {
        return new RequestCallers(limiter.config().clientIp());
    }

    @Bean("io.limiter.spring.rateLimitExceededAdvice")
    @ConditionalOnMissingBean
    @Conditional(DenialsNotAnswered.class)
    RateLimitExceededAdvice rateLimitExceededAdvice(Limiter limiter, ObjectProvider<RejectionHandler> ownHandler) {
        return RateLimitExceededAdvice.of(limiter, ownHandler.getIfAvailable());
    }

    /** The rules, in two filters, unless the application has registered one. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = BootKeys.FILTER_ENABLED, matchIfMissing = true)
    @ConditionalOnMissingBean(value = RateLimitFilter.class, parameterizedContainer = FilterRegistrationBean.class)
    static class Filters {
        private static final String FILTER = "io.limiter.spring.rateLimitFilter";
        private static final String USER_FILTER = "io.limiter.spring.rateLimitUserFilter";

        @Bean(FILTER)
        FilterRegistrationBean<RateLimitFilter> rateLimitFilter(
                Limiter limiter, ObjectProvider<RejectionHandler> handler, ConfigurableEnvironment environment) {
            return registration(
                    FILTER,
                    FilterOrders.of(environment).first(),
                    limiter,
                    handler.getIfAvailable(),
                    rule -> !isByUser(rule));
        }

        @Bean(USER_FILTER)
        FilterRegistrationBean<RateLimitFilter> rateLimitUserFilter(
                Limiter limiter, ObjectProvider<RejectionHandler> handler, ConfigurableEnvironment environment) {
            return registration(
                    USER_FILTER,
                    FilterOrders.of(environment).ofUsers(),
                    limiter,
                    handler.getIfAvailable(),
                    Filters::isByUser);
        }

        private static boolean isByUser(RuleDefinition rule) {
            return rule.key().stream().anyMatch(part -> part.kind() == KeyPart.Kind.USER);
        }

        private static FilterRegistrationBean<RateLimitFilter> registration(
                String name,
                int order,
                Limiter limiter,
                @Nullable RejectionHandler handler,
                Predicate<RuleDefinition> which) {
            List<String> rules = limiter.config().rules().stream()
                    .filter(which)
                    .map(RuleDefinition::name)
                    .toList();
            FilterRegistrationBean<RateLimitFilter> registration =
                    new FilterRegistrationBean<>(new RateLimitFilter(limiter, handler, which)) {
                        /** In the line that says why nothing was registered. */
                        @Override
                        protected String getDescription() {
                            return "filter " + name + (rules.isEmpty() ? ", for which limiter.rules has no rule," : "");
                        }
                    };
            // A short name is likely to be that of a filter of the application.
            registration.setName(name);
            registration.setOrder(order);
            registration.setAsyncSupported(true);
            registration.addUrlPatterns("/*");
            registration.setDispatcherTypes(
                    EnumSet.of(DispatcherType.REQUEST, DispatcherType.FORWARD, DispatcherType.ASYNC));
            registration.setEnabled(!rules.isEmpty());
            if (!rules.isEmpty()) {
                LOG.info("filter '{}' at order {} limits by the rules {}", name, order, rules);
            }
            return registration;
        }
    }
}
