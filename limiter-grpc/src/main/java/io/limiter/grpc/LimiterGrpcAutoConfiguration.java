package io.limiter.grpc;

import io.limiter.application.Limiter;
import io.limiter.spring.boot.LimiterAutoConfiguration;
import io.limiter.spring.boot.internal.FilterPlaces;
import io.limiter.spring.boot.internal.RequestExplainer;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnNotWebApplication;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.grpc.server.GlobalServerInterceptor;
import org.springframework.grpc.server.exception.GrpcExceptionHandlerInterceptor;
import org.springframework.security.authentication.AnonymousAuthenticationToken;
import org.springframework.security.concurrent.DelegatingSecurityContextRunnable;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;

/**
 * For applications with Spring gRPC, in addition to {@link LimiterAutoConfiguration}: the configured rules, in an interceptor of all
 * services before Spring Security's, and those that are decided after authentication in a second one after it.
 */
@AutoConfiguration(after = LimiterAutoConfiguration.class)
@ConditionalOnClass(GlobalServerInterceptor.class)
@ConditionalOnProperty(name = "limiter.enabled", matchIfMissing = true)
class LimiterGrpcAutoConfiguration {
    private static final String OF_CALLS = "org.springframework.grpc.server.security.AuthenticationProcessInterceptor";

    /** Spring Security's interceptor is between them, at 0 or 2. */
    private static final int FIRST = -100;

    private static final int AFTER_SECURITY = 100;

    /** Explains calls to the endpoint. In a web application it explains requests. */
    @Bean("io.limiter.grpc.requestExplainer")
    @ConditionalOnNotWebApplication
    RequestExplainer requestExplainer(ListableBeanFactory beans) {
        return RequestExplainer.of(
                beans,
                RateLimitServerInterceptor.class,
                (name, one) -> name.equals(Interceptors.AFTER) ? AFTER_SECURITY : FIRST,
                OF_CALLS,
                0);
    }

    /** The rules, in two interceptors, unless the application has one. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = FilterPlaces.ENABLED, matchIfMissing = true)
    @ConditionalOnMissingBean(RateLimitServerInterceptor.class)
    static class Interceptors {
        static final String AFTER = "io.limiter.grpc.rateLimitUserInterceptor";

        @Bean("io.limiter.grpc.rateLimitInterceptor")
        @GlobalServerInterceptor
        @Order(FIRST)
        RateLimitServerInterceptor rateLimitInterceptor(Limiter limiter, ListableBeanFactory beans) {
            return builder(limiter, beans).rulesBeforeAuthentication().build();
        }

        @Bean(AFTER)
        @GlobalServerInterceptor
        @Order(AFTER_SECURITY)
        RateLimitServerInterceptor rateLimitUserInterceptor(Limiter limiter, ListableBeanFactory beans) {
            RateLimitServerInterceptor.Builder builder = builder(limiter, beans).rulesAfterAuthentication();
            // The one of Spring gRPC may be before the security.
            beans.getBeanProvider(GrpcExceptionHandlerInterceptor.class).ifAvailable(builder::followedBy);
            return (FilterPlaces.has(beans, OF_CALLS) ? SecurityUsers.of(builder) : builder).build();
        }

        private static RateLimitServerInterceptor.Builder builder(Limiter limiter, ListableBeanFactory beans) {
            RateLimitServerInterceptor.Builder builder = FilterPlaces.withBeans(
                    RateLimitServerInterceptor.builder(limiter), GrpcRejectionHandler.class, beans);
            return FilterPlaces.FILTERS.stream().anyMatch(beans::containsBean) ? builder.besideOtherDoors() : builder;
        }
    }

    /** Not linked without Spring Security. */
    private static final class SecurityUsers {
        static RateLimitServerInterceptor.Builder of(RateLimitServerInterceptor.Builder builder) {
            return builder.context(DelegatingSecurityContextRunnable::new)
                    .user(
                            call -> user(),
                            (user, role) -> ((Authentication) user)
                                    .getAuthorities().stream()
                                            .anyMatch(one -> (role.startsWith("ROLE_") ? role : "ROLE_" + role)
                                                    .equals(one.getAuthority())));
        }

        private static @org.jspecify.annotations.Nullable Authentication user() {
            Authentication login = SecurityContextHolder.getContext().getAuthentication();
            return login instanceof AnonymousAuthenticationToken ? null : login;
        }
    }
}
