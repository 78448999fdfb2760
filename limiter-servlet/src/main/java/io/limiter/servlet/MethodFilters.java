package io.limiter.servlet;

import io.limiter.config.HttpSettings;
import io.limiter.config.HttpSettings.MethodOverride;
import io.limiter.config.RuleDefinition;
import jakarta.servlet.FilterRegistration;
import jakarta.servlet.ServletContext;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** Looks for filters of the application that take a method from the body of a form. */
final class MethodFilters {
    /** Spring's, its subclasses in Spring Boot and elsewhere ({@code OrderedHiddenHttpMethodFilter}), and its likes. */
    private static final String NAME = "HiddenHttpMethodFilter";

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
                .filter(name -> name != null && takesMethods(name, webApp))
                .findFirst()
                .ifPresent(findings::methodMayStandInABody);
    }

    /** By its name, or by that of a class that it extends. Nothing of the class runs here. */
    private static boolean takesMethods(String name, ServletContext webApp) {
        if (name.endsWith(NAME)) {
            return true;
        }
        try {
            Class<?> type = Class.forName(name, false, ClassPath.of(webApp));
            while (type != null && !type.getName().endsWith(NAME)) {
                type = type.getSuperclass();
            }
            return type != null;
        } catch (ClassNotFoundException | LinkageError | RuntimeException unknown) {
            // The container will tell, if it needs the class.
            return false;
        }
    }
}
