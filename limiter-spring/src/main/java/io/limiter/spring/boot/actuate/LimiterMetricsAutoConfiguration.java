package io.limiter.spring.boot.actuate;

import io.limiter.Limiter;
import io.limiter.spring.boot.LimiterAutoConfiguration;
import io.limiter.spring.proxy.RateLimitedPostProcessor;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/**
 * The meters {@code limiter.*}, where there is a registry. Switched off as all others are: {@code management.metrics.enable.limiter =
 * false}. Metrics have another home since Spring Boot 4, so what must come before is named twice.
 */
@AutoConfiguration(
        after = LimiterAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
@ConditionalOnSingleCandidate(Limiter.class)
public class LimiterMetricsAutoConfiguration {
    /** Made by Spring Boot. */
    public LimiterMetricsAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    LimiterMetrics limiterMetrics(Limiter limiter, ObjectProvider<RateLimitedPostProcessor> annotations) {
        return new LimiterMetrics(limiter, new AnnotatedPolicies(annotations));
    }
}
