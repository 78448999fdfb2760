package io.limiter.config;

import io.limiter.Policy;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

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

    /** As configuration text writes it. */
    @Override
    public String toString() {
        return source.prefix + name;
    }
}
