package io.limiter.spring.method;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.config.LimiterConfig;
import java.util.LinkedHashMap;
import java.util.Map;

/** The plans of the configuration as an annotation uses them. */
final class AnnotatedPlans {
    private AnnotatedPlans() {}

    /**
     * A policy for each plan, named {@code <name>.<plan>}.
     *
     * @throws IllegalStateException if there is no such default plan, or a name is too long or already in use
     */
    static MethodPlans of(MethodScope scope, String name, String defaultPlan, LimiterConfig config) {
        Map<String, Policy> policies = new LinkedHashMap<>();
        config.plans().limits().forEach((plan, limits) -> {
            String of = name + "." + plan;
            if (config.policies().containsKey(of)) {
                throw AnnotationError.at(
                        scope,
                        "RL-126",
                        "the policy of its plan '" + plan + "' would be named '" + of
                                + "', which is the one of the configuration; give the annotation another name ="
                                + " \"...\"");
            }
            try {
                policies.put(plan, Policy.of(of, limits.toArray(Limit[]::new)));
            } catch (IllegalArgumentException unfit) {
                throw AnnotationError.at(
                        scope, "RL-127", unfit.getMessage() + "; give the annotation a short name = \"...\"", unfit);
            }
        });
        if (!policies.containsKey(defaultPlan)) {
            throw AnnotationError.at(
                    scope,
                    "RL-169",
                    "defaultPlan = \"" + defaultPlan + "\": there is no such plan, there are " + policies.keySet()
                            + "; add limiter.plans." + defaultPlan + ".limits = 100/1m, or write one of them");
        }
        return new MethodPlans(policies, defaultPlan);
    }
}
