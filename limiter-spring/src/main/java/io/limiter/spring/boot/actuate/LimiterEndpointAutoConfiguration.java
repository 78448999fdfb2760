package io.limiter.spring.boot.actuate;

import io.limiter.Limiter;
import io.limiter.spring.boot.LimiterAutoConfiguration;
import io.limiter.spring.proxy.RateLimitedPostProcessor;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** The endpoint {@code ratelimits}, where it is exposed. */
@AutoConfiguration(after = LimiterAutoConfiguration.class)
@ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
@ConditionalOnAvailableEndpoint(RateLimitsEndpoint.class)
@ConditionalOnSingleCandidate(Limiter.class)
@RegisterReflectionForBinding({RateLimitsReport.class, KeyReport.class, KeyReport.Reset.class, KeyReport.Failure.class})
public class LimiterEndpointAutoConfiguration {
    /** Made by Spring Boot. */
    public LimiterEndpointAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    RateLimitsEndpoint rateLimitsEndpoint(Limiter limiter, ObjectProvider<RateLimitedPostProcessor> annotations) {
        return new RateLimitsEndpoint(limiter, new AnnotatedPolicies(annotations));
    }

    @Bean
    @ConditionalOnMissingBean
    @ConditionalOnBean(RateLimitsEndpoint.class)
    RateLimitsWebExtension rateLimitsWebExtension(RateLimitsEndpoint endpoint) {
        return new RateLimitsWebExtension(endpoint);
    }
}
