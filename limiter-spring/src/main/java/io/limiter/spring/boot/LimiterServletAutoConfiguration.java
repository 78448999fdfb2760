package io.limiter.spring.boot;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.servlet.RateLimitFilter;
import io.limiter.servlet.internal.WebAppChecks;
import io.limiter.servlet.rejection.RejectionHandler;
import io.limiter.spring.internal.web.WebBeans;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.cloud.CloudPlatform;
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
@ConditionalOnProperty(name = KnownKeys.ENABLED, matchIfMissing = true)
@Import(WebBeans.class)
public class LimiterServletAutoConfiguration {
    private static final Logger LOG = DiagnosticLog.of(LimiterServletAutoConfiguration.class);

    /** Called by Spring Boot. */
    public LimiterServletAutoConfiguration() {}

    /** Denies the requests that filters hold before the web server begins to stop, which would wait for them or drop them. */
    @Bean("io.limiter.spring.heldRequests")
    SmartLifecycle heldRequests(ObjectProvider<FilterRegistrationBean<?>> registrations) {
        return new SmartLifecycle() {
            private volatile List<RateLimitFilter> running = List.of();

            @Override
            public void start() {
                running = registrations.stream()
                        .map(FilterRegistrationBean::getFilter)
                        .filter(RateLimitFilter.class::isInstance)
                        .map(RateLimitFilter.class::cast)
                        .toList();
                running.forEach(RateLimitFilter::startHolding);
            }

            @Override
            public void stop() {
                running.forEach(RateLimitFilter::stopHolding);
                running = List.of();
            }

            @Override
            public boolean isRunning() {
                return !running.isEmpty();
            }
        };
    }

    /** The rules, in two filters, unless the application has registered one. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = KnownKeys.FILTER_ENABLED, matchIfMissing = true)
    @ConditionalOnMissingBean(value = RateLimitFilter.class, parameterizedContainer = FilterRegistrationBean.class)
    static class Filters {
        static final String FILTER = "io.limiter.spring.rateLimitFilter";
        /** The filter of Spring Security. */
        private static final String SECURITY = "springSecurityFilterChain";

        /** Of Tomcat: the other web servers leave the headers as they are. */
        private static final String VALVE = "org.apache.catalina.valves.RemoteIpValve";

        private static final String USER_FILTER = "io.limiter.spring.rateLimitUserFilter";

        /**
         * After the filters that every answer needs (encoding, observation, a session of Spring Session), and before those that
         * read bodies: HiddenHttpMethodFilter at -10000, FormContentFilter at -9900.
         */
        static final int FIRST = -10_100;

        /** The default of {@code spring.security.filter.order}. */
        static final int OF_SECURITY = -100;

        @Bean(FILTER)
        FilterRegistrationBean<RateLimitFilter> rateLimitFilter(
                Limiter limiter, ListableBeanFactory beans, ConfigurableEnvironment environment) {
            int security = orderOfSecurity(environment);
            int order = environment.getProperty(
                    KnownKeys.FILTER_ORDER, Integer.class, security <= FIRST ? security - 1 : FIRST);
            limiter.derive(Filters::usersThatAreNotKnownYet).reporting(LOG::warn, found -> found);
            limiter.derive(config -> checkAddresses(config, environment)).reporting(LOG::warn, found -> found);
            return LimiterFailureAnalyzer.orShortened(() ->
                    registration(FILTER, order, limiter, beans, RateLimitFilter.Builder::rulesBeforeAuthentication));
        }

        @Bean(USER_FILTER)
        FilterRegistrationBean<RateLimitFilter> rateLimitUserFilter(
                Limiter limiter, ListableBeanFactory beans, ConfigurableEnvironment environment) {
            int security = orderOfSecurity(environment);
            int order = environment.getProperty(KnownKeys.USER_FILTER_ORDER, Integer.class, security + 1);
            return LimiterFailureAnalyzer.orShortened(() -> {
                if (order <= security && beans.containsBean(SECURITY)) {
                    limiter.derive(config -> refuseRulesTooEarly(config, order, security));
                }
                return registration(
                        USER_FILTER, order, limiter, beans, RateLimitFilter.Builder::rulesAfterAuthentication);
            });
        }

        private static int orderOfSecurity(ConfigurableEnvironment environment) {
            return environment.getProperty("spring.security.filter.order", Integer.class, OF_SECURITY);
        }

        private static Object refuseRulesTooEarly(LimiterConfig config, int order, int security) {
            List<String> rules = config.settings().rulesThat(rule -> !rule.isBeforeAuthentication());
            if (!rules.isEmpty()) {
                throw new IllegalStateException("RL-146 " + KnownKeys.USER_FILTER_ORDER + " = " + order
                        + " is before Spring Security (" + security + "), where no user is known, and the rules "
                        + rules
                        + " are decided after authentication; remove it, or write a greater order");
            }
            return rules;
        }

        private static List<String> usersThatAreNotKnownYet(LimiterConfig config) {
            List<String> early = config.settings().rulesThat(RuleDefinition::isBeforeAuthentication);
            return !config.settings().callers().exempt().needUser() || early.isEmpty()
                    ? List.of()
                    : List.of(
                            "RL-157 rules " + early + " are decided before Spring Security, where no user is known, so"
                                    + " limiter.exempt.users and limiter.exempt.roles have no effect on them; write limiter.rules."
                                    + early.get(0) + ".exempt.roles to decide a rule after it");
        }

        /** The web server does it; a filter of the application, also of the strategy "framework", is found when it starts. */
        private static List<String> checkAddresses(LimiterConfig config, ConfigurableEnvironment environment) {
            CloudPlatform platform = CloudPlatform.getActive(environment);
            boolean isOfPlatform = platform != null && platform.isUsingForwardHeaders();
            String strategy = environment.getProperty("server.forward-headers-strategy", isOfPlatform ? "native" : "");
            boolean isValve = Stream.of("remote-ip-header", "protocol-header")
                    .anyMatch(header -> environment.containsProperty("server.tomcat.remoteip." + header));
            if (strategy.equalsIgnoreCase("native") || isValve) {
                String by = isValve
                        ? "server.tomcat.remoteip"
                        : "server.forward-headers-strategy = native"
                                + (isOfPlatform ? " (the default on " + platform + ")" : "");
                WebAppChecks.refuse(config.settings(), by, ClassUtils.isPresent(VALVE, null));
                return WebAppChecks.findings(config.settings(), by);
            }
            if (strategy.equalsIgnoreCase("framework")) {
                WebAppChecks.refuse(config.settings(), "server.forward-headers-strategy = framework", false);
            }
            return List.of();
        }

        /** Registered even without rules: a configuration that replaces this one may have some. */
        private static FilterRegistrationBean<RateLimitFilter> registration(
                String name,
                int order,
                Limiter limiter,
                ListableBeanFactory beans,
                UnaryOperator<RateLimitFilter.Builder> which) {
            FilterRegistrationBean<RateLimitFilter> registration =
                    new FilterRegistrationBean<>(which.apply(RateLimitFilter.builder(limiter))
                            .rejectionHandler(beans.getBeanProvider(RejectionHandler.class)
                                    .getIfAvailable())
                            .instances(type -> beans.getBeanProvider(type).getIfAvailable())
                            .build());
            // A short name could be that of a filter of the application.
            registration.setName(name);
            registration.setOrder(order);
            registration.addUrlPatterns("/*");
            registration.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.FORWARD, DispatcherType.ASYNC);
            LOG.debug("filter '{}' is at order {}", name, order);
            return registration;
        }
    }
}
