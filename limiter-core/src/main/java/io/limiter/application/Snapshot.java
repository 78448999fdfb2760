package io.limiter.application;

import io.limiter.Policy;
import io.limiter.config.LimiterConfig;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What calls of a limiter see. It grows, because a copy for each of many annotations would make startup quadratic; what is in it
 * stays. Thread-safe.
 *
 * @param config as given
 * @param policies its policies, and those of the derived, by name
 * @param derived the values made from the configuration, by their {@link Derived}
 */
record Snapshot(LimiterConfig config, Map<String, Policy> policies, Map<Derived<?>, Object> derived) {
    /**
     * With all policies.
     *
     * @throws IllegalArgumentException if two policies have one name
     */
    static Snapshot of(LimiterConfig config, Map<Derived<?>, Object> derived) {
        Map<String, Policy> policies = new LinkedHashMap<>(config.policies());
        derived.forEach((one, value) ->
                one.policiesOf(value).forEach(policy -> check(policies.putIfAbsent(policy.name(), policy), policy)));
        return new Snapshot(config, new ConcurrentHashMap<>(policies), new ConcurrentHashMap<>(derived));
    }

    /**
     * With another configuration, and all that is derived from it.
     *
     * @throws IllegalArgumentException if it differs in what needs a restart, or two policies have one name
     * @throws IllegalStateException if a derived value can't be made
     */
    Snapshot next(LimiterConfig other, Collection<Derived<?>> all) {
        List<String> fixed =
                config.settings().reload().restartsFor(other.settings().reload());
        if (!fixed.isEmpty()) {
            throw new IllegalArgumentException("RL-150 " + String.join(", ", fixed)
                    + " can't change while the limiter runs; restart with the new configuration. Nothing of it is in"
                    + " force");
        }
        Map<Derived<?>, Object> values = new LinkedHashMap<>();
        all.forEach(one -> values.put(one, one.made(other)));
        return of(other, values);
    }

    /** All policies, in the order of the configuration, then by name. */
    Map<String, Policy> listed() {
        Map<String, Policy> all = new LinkedHashMap<>(config.policies());
        new TreeMap<>(policies).forEach(all::putIfAbsent);
        return all;
    }

    /** The policy of a name; throws if there is none. */
    Policy policy(String name) {
        Policy policy = policies.get(name);
        if (policy == null) {
            throw new IllegalArgumentException("no policy '" + name + "' is configured; there are " + listed().keySet()
                    + "; add limiter.policies." + name + ".limits = 3/10s");
        }
        return policy;
    }

    /**
     * Adds a derived value.
     *
     * @param its policies of the value
     * @throws IllegalArgumentException if there is another policy of such a name; then nothing is added
     */
    void add(Derived<?> one, Object value, Collection<Policy> its) {
        its.forEach(policy -> check(policies.get(policy.name()), policy));
        its.forEach(policy -> policies.put(policy.name(), policy));
        derived.put(one, value);
    }

    private static void check(@Nullable Policy known, Policy policy) {
        if (known != null && !known.equals(policy)) {
            throw new IllegalArgumentException(
                    "RL-151 policy '" + policy.name()
                            + "' is there twice, among those of the configuration, of plans, of annotations and of code; rename one of the two");
        }
    }
}
