package io.limiter.config;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.Policy;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The plans of a rule: each caller has one, and its limits. The policy of a plan is called {@code <rule>.<plan>}, so that two rules
 * with one plan are two quotas. Immutable.
 *
 * @param source where the plan of a caller is found
 * @param name which header or attribute of the user, or the class of an {@code io.limiter.rule.PlanResolver}
 * @param policies by plan
 */
public record RulePlans(Source source, String name, Map<String, Policy> policies) {
    /** Where the plan of a caller is found. */
    public enum Source {
        /** A request header: {@code header:X-Plan}. */
        HEADER("header:"),
        /** An attribute of the authenticated user: {@code user:plan}. */
        USER("user:"),
        /** A class, or a bean of it: {@code com.example.Plans}. */
        RESOLVER("");

        private final String prefix;

        Source(String prefix) {
            this.prefix = prefix;
        }
    }

    /**
     * Copies the policies.
     *
     * @throws IllegalArgumentException if the name does not fit the source
     */
    public RulePlans {
        policies = Collections.unmodifiableMap(new LinkedHashMap<>(policies));
        Problems.refuseIf(
                source == Source.RESOLVER ? !HttpSettings.isClassName(name) : !HttpSettings.isToken(name),
                "'" + source.prefix + name
                        + "' is no source of plans; write header:X-Plan, user:plan, or the name of a class such as"
                        + " com.example.Plans");
    }

    /** What a text says. */
    static RulePlans parse(String text, Map<String, Policy> policies) {
        Source source = Source.RESOLVER;
        for (Source one : Source.values()) {
            source = source == Source.RESOLVER && text.startsWith(one.prefix) ? one : source;
        }
        return new RulePlans(source, text.substring(source.prefix.length()), policies);
    }

    /** The policies of plans for a rule. */
    static Map<String, Policy> policies(
            String rule, Map<String, List<Limit>> plans, FailureMode onFailure, @Nullable Duration deadline) {
        Map<String, Policy> all = new LinkedHashMap<>();
        plans.forEach((plan, limits) -> all.put(plan, new Policy(rule + "." + plan, limits, onFailure, deadline)));
        return all;
    }

    /** As configuration text writes it. */
    @Override
    public String toString() {
        return source.prefix + name;
    }
}
