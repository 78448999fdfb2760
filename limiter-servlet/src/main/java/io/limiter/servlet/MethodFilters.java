package io.limiter.servlet;

import io.limiter.config.HttpSettings;
import io.limiter.config.HttpSettings.MethodOverride;
import io.limiter.config.RuleDefinition;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import java.util.Collection;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Looks for filters of the application that take a method from the body of a form. */
final class MethodFilters {
    private static final String SPRING = "org.springframework.web.filter.HiddenHttpMethodFilter";

    private MethodFilters() {}

    static void check(
            @Nullable ServletContext webApp,
            HttpSettings settings,
            Collection<RuleDefinition> rules,
            Findings findings) {
        boolean byMethod = rules.stream().anyMatch(rule -> !rule.methods().isEmpty());
        if (webApp == null || !byMethod || settings.methodOverride() == MethodOverride.FORMS) {
            return;
        }
        webApp.getFilterRegistrations().values().stream()
                .map(FilterRegistration::getClassName)
                .filter(Objects::nonNull)
                .filter(SPRING::equals)
                .findFirst()
                .ifPresent(findings::methodMayStandInABody);
    }
}
