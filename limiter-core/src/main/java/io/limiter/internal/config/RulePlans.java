package io.limiter.internal.config;

import io.limiter.Policy;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The plans of a rule: each caller has one of them, with its limits. The policy of a plan is named {@code
 * <rule>.<plan>}, so two rules with the same plan have separate quotas. Immutable.
 *
 * @param source where the plan of a caller is found
 * @param name the name of the header or user attribute, or the class of an {@code io.limiter.rule.PlanResolver}
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
                source == Source.RESOLVER ? !ConfigKey.isClassName(name) : !ConfigKey.isName(name),
                "'" + source.prefix + name
                        + "' is not a source of plans; write header:X-Plan, user:plan, or the name of a class such as"
                        + " com.example.Plans");
    }

    /** Parses configuration text. */
    static RulePlans parse(String text, Map<String, Policy> policies) {
        // The last one has no prefix.
        Source source = Arrays.stream(Source.values())
                .filter(one -> text.startsWith(one.prefix))
                .findFirst()
                .orElseThrow();
        return new RulePlans(source, text.substring(source.prefix.length()), policies);
    }

    /** As configuration text writes it. */
    @Override
    public String toString() {
        return source.prefix + name;
    }
}
