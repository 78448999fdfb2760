package io.limiter.spring.proxy;

import io.limiter.DiagnosticLog;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.call.AnnotatedPolicy;
import io.limiter.spring.method.AnnotatedMethod;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.ListableBeanFactory;

/**
 * Reports configured policies without users, as far as known at startup: usually a rule is missing, because it was
 * written in the wrong place.
 */
final class UnusedPolicies {
    private static final Logger LOG = DiagnosticLog.of(UnusedPolicies.class);

    private UnusedPolicies() {}

    /** One line for all of them. Not an error, because code may use a policy by its name. */
    static void report(LimiterConfig config, Collection<AnnotatedPolicy> annotated, ListableBeanFactory beans) {
        Set<String> unused = new TreeSet<>(config.policies().keySet());
        config.rules().forEach(rule -> rule.policies().forEach(policy -> unused.remove(policy.name())));
        annotated.forEach(one -> unused.remove(one.policy().name()));
        if (!unused.isEmpty()) {
            removeThoseOfDefinitions(unused, beans);
        }
        if (!unused.isEmpty()) {
            LOG.warn(
                    "RL-140 no rule and no bean with @RateLimited uses the policies {}; if code, a woven class or"
                            + " another context uses them by name, ignore this; else add"
                            + " limiter.rules.<name>.policy = {}, or check that the lines of a rule are indented below limiter",
                    unused,
                    unused.iterator().next());
        }
    }

    /** The policies of beans that are created later: lazy ones, and those of a scope. */
    private static void removeThoseOfDefinitions(Set<String> unused, ListableBeanFactory beans) {
        for (String name : beans.getBeanDefinitionNames()) {
            Class<?> type = type(name, beans);
            if (type != null) {
                AnnotatedMethod.of(type)
                        .forEach(method -> method.annotations()
                                .forEach(annotation -> unused.remove(annotation.getString("value"))));
            }
        }
    }

    /** The class of a bean that may never be created: a library that it needs may be missing. */
    private static @Nullable Class<?> type(String name, ListableBeanFactory beans) {
        try {
            return beans.getType(name, false);
        } catch (BeansException | LinkageError unknown) {
            return null;
        }
    }
}
