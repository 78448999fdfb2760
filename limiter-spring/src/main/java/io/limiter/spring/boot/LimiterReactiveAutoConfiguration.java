package io.limiter.spring.boot;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.internal.web.WebBeans;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.server.WebExceptionHandler;

/** For WebFlux applications, in addition to {@link LimiterAutoConfiguration}: the 429 response of a denied method. */
@AutoConfiguration(after = LimiterAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(WebExceptionHandler.class)
@ConditionalOnProperty(name = ApplicationText.ENABLED, matchIfMissing = true)
class LimiterReactiveAutoConfiguration {
    private static final Logger LOG = LoggerFactory.getLogger(LimiterReactiveAutoConfiguration.class);

    @Bean("io.limiter.spring.reactiveWebBeans")
    static WebBeans reactiveWebBeans() {
        return WebBeans.ofReactive();
    }

    /** Reports properties that have no effect here, because no filter of WebFlux is on the class path. */
    @Bean("io.limiter.spring.rulesWithoutFilter")
    @ConditionalOnMissingClass("io.limiter.webflux.RateLimitWebFilter")
    SmartInitializingSingleton rulesWithoutFilter(Limiter limiter) {
        return () -> limiter.derive(LimiterReactiveAutoConfiguration::whatNeedsAFilter)
                .reporting(LOG::warn, found -> found);
    }

    private static List<String> whatNeedsAFilter(LimiterConfig config) {
        List<String> unused = config.origins().keySet().stream()
                .filter(key -> key.matches("limiter\\.(rules|deny)\\..*|limiter\\.http\\.rejection-handler"))
                .toList();
        return unused.isEmpty()
                ? List.of()
                : List.of(
                        "RL-119 " + unused + ": no effect, because this application is reactive, and limiter-webflux is"
                                + " missing; add io.limiter:limiter-webflux");
    }
}
