package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How limits are called in answers: by their names, or as {@code policy/limit} where two policies have a limit of that
 * name. No name has a slash of its own, so each is one limit's. Immutable.
 */
final class Published {
    private final Map<String, Map<String, String>> namesByPolicy = new HashMap<>();

    /** The names of the limits of all policies there are: one policy's name may depend on another. */
    Published(Collection<Policy> policies) {
        Map<String, Integer> uses = new HashMap<>();
        for (Policy policy : policies) {
            policy.limits().forEach(limit -> uses.merge(nameOf(limit), 1, Integer::sum));
        }
        for (Policy policy : policies) {
            Map<String, String> names = new LinkedHashMap<>();
            for (Limit limit : policy.limits()) {
                String name = nameOf(limit);
                names.put(name, uses.getOrDefault(name, 0) > 1 ? policy.name() + "/" + name : name);
            }
            namesByPolicy.put(policy.name(), names);
        }
    }

    String name(Policy policy, Limit limit) {
        String name = nameOf(limit);
        return namesByPolicy.getOrDefault(policy.name(), Map.of()).getOrDefault(name, name);
    }

    /** Of a denial: the limits that deny, or the policies where nobody counted and none is sure to deny; each once. */
    List<String> violated(Decision decision) {
        List<String> names = new ArrayList<>();
        if (decision.outcomes().isEmpty()) {
            for (Charge charge : decision.charges()) {
                charge.policy().limits().stream()
                        .filter(limit -> charge.permits() > limit.capacity())
                        .forEach(limit -> names.add(name(charge.policy(), limit)));
            }
            if (names.isEmpty()) {
                decision.charges().forEach(charge -> names.add(charge.policy().name()));
            }
        }
        for (LimitOutcome outcome : decision.violated()) {
            names.add(name(outcome.charge().policy(), outcome.limit()));
        }
        return names.stream().distinct().toList();
    }

    private static String nameOf(Limit limit) {
        return String.valueOf(limit.name());
    }
}
