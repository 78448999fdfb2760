package io.limiter;

import io.limiter.config.LimiterConfig;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * What calls of a limiter see. Immutable.
 *
 * @param config as given
 * @param own policies that were announced besides, by name
 * @param policies both, and those of the derived, by name
 * @param derived the values made from the configuration, by their {@link Derived}
 */
record Snapshot(
        LimiterConfig config, Map<String, Policy> own, Map<String, Policy> policies, Map<Object, Object> derived) {
    /**
     * With all policies.
     *
     * @param finders find the policies in the derived
     * @throws IllegalArgumentException if two policies have one name
     */
    static Snapshot of(
            LimiterConfig config,
            Map<String, Policy> own,
            Map<Object, Object> derived,
            Map<Object, Function<Object, ? extends Collection<Policy>>> finders) {
        Map<String, Policy> policies = new LinkedHashMap<>(config.policies());
        own.forEach((name, policy) -> {
            if (policies.putIfAbsent(name, policy) != null) {
                throw new IllegalArgumentException("RL-151 policy '" + name
                        + "' is configured, and an annotation or other code has one of that name; rename one"
                        + " of the two");
            }
        });
        finders.forEach((slot, finder) -> {
            Object value = derived.get(slot);
            for (Policy policy : value == null ? List.<Policy>of() : finder.apply(value)) {
                Policy other = policies.putIfAbsent(policy.name(), policy);
                if (other != null && !other.equals(policy)) {
                    throw new IllegalArgumentException("RL-151 there is another policy '" + policy.name()
                            + "' than that of a plan; rename one of the two");
                }
            }
        });
        return new Snapshot(config, own, Collections.unmodifiableMap(policies), derived);
    }
}
