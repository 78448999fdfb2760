package io.limiter.spring.boot.actuate;

import io.limiter.application.Limiter;
import io.limiter.control.Control;
import io.limiter.control.Entry;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.spring.boot.LimiterAutoConfiguration;
import io.limiter.spring.boot.internal.RequestExplainer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationRegistry;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;

/**
 * For operators: the endpoint {@code ratelimits} if it is exposed; the meters {@code limiter.*} if there is a registry;
 * attributes of spans if there are observations; and health {@code ratelimits} if the state is in Redis. Each is
 * disabled by Spring Boot's usual properties:
 * {@code management.metrics.enable.limiter = false}, {@code management.health.ratelimits.enabled = false}. Metrics and
 * health are in other packages since Spring Boot 4, so classes in their neighborhood are named twice.
 */
@AutoConfiguration(
        after = LimiterAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        },
        beforeName = {
            "org.springframework.boot.actuate.autoconfigure.health.HealthContributorAutoConfiguration",
            "org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration"
        })
@ConditionalOnSingleCandidate(Limiter.class)
class LimiterActuatorAutoConfiguration {
    private static final String HEALTH = "ratelimitsHealthIndicator";

    /** The endpoints that show and explain limits, and for both of them the filters, if there are any. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    @Import({RateLimitsEndpoint.class, RateLimitExplainEndpoint.class})
    @RegisterReflectionForBinding(Explanation.class)
    static class OfEndpoints {
        @Lazy
        @Bean("io.limiter.spring.requestExplainer")
        @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
        @ConditionalOnClass(name = "org.springframework.boot.web.servlet.FilterRegistrationBean")
        RequestExplainer requestExplainer(ListableBeanFactory beans) {
            return FilterExplainer.of(beans);
        }
    }

    /** The endpoint of operators. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({ConditionalOnAvailableEndpoint.class, Control.class})
    @ConditionalOnAvailableEndpoint(ControlEndpoint.class)
    @Import(ControlEndpoint.class)
    @RegisterReflectionForBinding({Control.Version.class, Control.Instance.class, Entry.class, Control.Answer.class})
    static class OfControl {}

    /** The meters of what operators have set. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({MeterRegistry.class, Control.class})
    @ConditionalOnBean(MeterRegistry.class)
    static class OfControlMeters {
        @Bean("io.limiter.spring.controlMetrics")
        MeterBinder controlMetrics(Limiter limiter) {
            return registry -> {
                for (boolean isSwitch : new boolean[] {true, false}) {
                    Gauge.builder(
                                    "limiter.control." + (isSwitch ? "switches" : "overrides"),
                                    limiter,
                                    one -> Control.inForce(one, isSwitch))
                            .description((isSwitch ? "Switches" : "Overrides of keys") + " in force in this instance")
                            .baseUnit(isSwitch ? "switches" : "overrides")
                            .register(registry);
                }
            };
        }
    }

    /** The meters. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnBean(MeterRegistry.class)
    @ConditionalOnMissingBean(LimiterMetrics.class)
    @Import(LimiterMetrics.class)
    static class OfMeters {}

    /** Attributes of spans. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ObservationRegistry.class)
    @ConditionalOnBean(ObservationRegistry.class)
    static class OfSpans {
        @Bean("io.limiter.spring.requestAttributes")
        @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
        ObservationFilter requestAttributes() {
            return SpanAttributes::ofRequest;
        }

        @Bean("io.limiter.spring.exchangeAttributes")
        @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
        ObservationFilter exchangeAttributes() {
            return SpanAttributes::ofExchange;
        }
    }

    /** Health, of the actuator of Spring Boot 3. A backend in this JVM has none, and no entry in that of the application. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(
            name = {
                "org.springframework.boot.actuate.health.HealthIndicator",
                "org.springframework.boot.actuate.autoconfigure.health.ConditionalOnEnabledHealthIndicator"
            })
    @ConditionalOnEnabledHealthIndicator("ratelimits")
    static class OfActuator {
        @Bean(HEALTH)
        @ConditionalOnMissingBean(name = HEALTH)
        @Nullable
        HealthIndicator ratelimitsHealthIndicator(Limiter limiter) {
            return limiter.rateLimiter().monitor().health().servers().isEmpty()
                    ? null
                    : () -> Reports.health(
                            limiter,
                            (status, details) ->
                                    Health.status(status).withDetails(details).build());
        }
    }

    /** Health, of the module of Spring Boot 4. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
    @org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator("ratelimits")
    static class OfModule {
        @Bean(HEALTH)
        @ConditionalOnMissingBean(name = HEALTH)
        org.springframework.boot.health.contributor.@Nullable HealthIndicator ratelimitsHealthIndicator(
                Limiter limiter) {
            return limiter.rateLimiter().monitor().health().servers().isEmpty()
                    ? null
                    : () -> Reports.health(
                            limiter,
                            (status, details) -> org.springframework.boot.health.contributor.Health.status(status)
                                    .withDetails(details)
                                    .build());
        }
    }
}
