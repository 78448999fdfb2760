package io.limiter.spring.boot.actuate;

import io.limiter.Limiter;
import io.limiter.spring.boot.LimiterAutoConfiguration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Health {@code ratelimits}, where the state is in Redis. Switched off by {@code management.health.ratelimits.enabled = false}.
 * Health is at home in another place since Spring Boot 4, so there are two.
 */
@AutoConfiguration(
        after = LimiterAutoConfiguration.class,
        beforeName = {
            "org.springframework.boot.actuate.autoconfigure.health.HealthContributorAutoConfiguration",
            "org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration"
        })
@ConditionalOnSingleCandidate(Limiter.class)
public class LimiterHealthAutoConfiguration {
    private static final String BEAN = "ratelimitsHealthIndicator";

    /** Made by Spring Boot. */
    public LimiterHealthAutoConfiguration() {}

    /** A backend in this JVM has no health of its own, and no line in that of the application. */
    private static boolean needsNobody(Limiter limiter) {
        return limiter.rateLimiter().health().servers().isEmpty();
    }

    /** Of the actuator of Spring Boot 3. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = {
                "org.springframework.boot.actuate.health.HealthIndicator",
                "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator"
            })
    @ConditionalOnEnabledHealthIndicator("ratelimits")
    static class OfActuator {
        @Bean(BEAN)
        @ConditionalOnMissingBean(name = BEAN)
        @Nullable
        HealthIndicator ratelimitsHealthIndicator(Limiter limiter) {
            return needsNobody(limiter)
                    ? null
                    : () -> {
                        RedisHealth redis = RedisHealth.of(limiter);
                        return Health.status(redis.status())
                                .withDetails(redis.details())
                                .build();
                    };
        }
    }

    /** Of the module of Spring Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = {
                "org.springframework.boot.health.contributor.HealthIndicator",
                "org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator"
            })
    @org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator("ratelimits")
    static class OfModule {
        @Bean(BEAN)
        @ConditionalOnMissingBean(name = BEAN)
        org.springframework.boot.health.contributor.@Nullable HealthIndicator ratelimitsHealthIndicator(
                Limiter limiter) {
            return needsNobody(limiter)
                    ? null
                    : () -> {
                        RedisHealth redis = RedisHealth.of(limiter);
                        return org.springframework.boot.health.contributor.Health.status(redis.status())
                                .withDetails(redis.details())
                                .build();
                    };
        }
    }
}
