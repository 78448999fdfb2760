package io.limiter.spring.boot;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.spring.internal.web.WebBeans;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.server.WebExceptionHandler;

/** For WebFlux applications, in addition to {@link LimiterAutoConfiguration}: the 429 response of a denied method. */
@AutoConfiguration(after = LimiterAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(WebExceptionHandler.class)
@ConditionalOnProperty(name = KnownKeys.ENABLED, matchIfMissing = true)
public class LimiterReactiveAutoConfiguration {
    private static final Logger LOG = DiagnosticLog.of(LimiterReactiveAutoConfiguration.class);

    /** Called by Spring Boot. */
    public LimiterReactiveAutoConfiguration() {}

    @Bean("io.limiter.spring.reactiveWebBeans")
    static WebBeans reactiveWebBeans() {
        return WebBeans.ofReactive();
    }

    /** Reports properties that apply only to servlets and have no effect here. */
    @Bean("io.limiter.spring.rulesWithoutFilter")
    SmartInitializingSingleton rulesWithoutFilter(Limiter limiter) {
        return () -> limiter.derive(LimiterReactiveAutoConfiguration::whatIsForServlets)
                .reporting(LOG::warn, found -> found);
    }

    private static List<String> whatIsForServlets(LimiterConfig config) {
        List<String> all = new ArrayList<>();
        List<String> rules =
                config.settings().rules().stream().map(RuleDefinition::name).toList();
        if (!rules.isEmpty()) {
            all.add("RL-119 the rules " + rules + " limit nothing: they apply to servlet applications, and this one is"
                    + " reactive; limit its methods with @RateLimited");
        }
        if (!config.settings().callers().denied().isEmpty()) {
            all.add("RL-119 limiter.deny.addresses = "
                    + config.settings().callers().denied()
                    + " has no effect: it applies to servlet applications, and"
                    + " this one is reactive; deny these callers before they reach the application");
        }
        String handler = config.settings().http().rejectionHandler();
        if (handler != null) {
            all.add(
                    "RL-144 limiter.http.rejection-handler = " + handler
                            + " has no effect: it applies to servlet"
                            + " applications, and this one is reactive; write an @ExceptionHandler for RateLimitExceededException");
        }
        return all;
    }
}
