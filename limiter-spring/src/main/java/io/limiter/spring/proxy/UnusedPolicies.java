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
 * Reports the configured policies that nothing uses, as far as that is known at startup: most often a rule is missing, because it was
 * written at the wrong place.
 */
final class UnusedPolicies {
    private static final Logger LOG = DiagnosticLog.of(UnusedPolicies.class);

    private UnusedPolicies() {}

    /** One line for all of them. Code may use a policy by its name, which nobody can see, so that it is no error. */
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
                            + " another context uses them by name, nothing is wrong, else add limiter.rules.<name>.policy"
                            + " = {}, or see whether the lines of a rule are indented below limiter",
                    unused,
                    unused.iterator().next());
        }
    }

    /** Of beans that are made later: lazy ones, and those of a scope. */
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

    /** The class of a bean that may never be made: the library that it needs need not be there. */
    private static @Nullable Class<?> type(String name, ListableBeanFactory beans) {
        try {
            return beans.getType(name, false);
        } catch (BeansException | LinkageError unknown) {
            return null;
        }
    }
}
