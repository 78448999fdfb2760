package io.limiter.spring.method;

import io.limiter.Policy;
import java.util.Map;

/**
 * The policies of an annotation by plan. Immutable.
 *
 * @param defaultPlan one of them
 */
public record MethodPlans(Map<String, Policy> policies, String defaultPlan) {
    /** Copies the policies. */
    public MethodPlans {
        policies = Map.copyOf(policies);
    }

    /** The plans of an annotation with a single policy. */
    static MethodPlans one(Policy policy) {
        return new MethodPlans(Map.of("", policy), "");
    }
}
