package io.limiter.config;

import io.limiter.Limit;
import io.limiter.Policy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The differences between two configurations, for the log: in the words of their texts if both have one. */
final class Changes {
    private Changes() {}

    /** Sentences that begin with their code; empty if nothing differs that can change while a limiter runs. */
    static List<String> of(LimiterConfig now, LimiterConfig next) {
        Map<String, String> text = now.reload().text();
        Map<String, String> nextText = next.reload().text();
        Map<String, ?> before = text == null || nextText == null ? parts(now) : text;
        Map<String, ?> after = text == null || nextText == null ? parts(next) : nextText;
        Set<String> policies = without(now.policies().keySet(), next.policies().keySet());
        Set<String> rules = without(names(now), names(next));
        List<String> all = new ArrayList<>();
        policies.forEach(name -> all.add("RL-161 policy '" + name
                + "' was removed and counts nothing any more; calls that wait for it are denied"
                + had(Group.POLICIES, name, before)));
        rules.forEach(name -> all.add(
                "RL-161 rule '" + name + "' was removed and counts nothing any more" + had(Group.RULES, name, before)));
        Set<String> keys = new LinkedHashSet<>(before.keySet());
        keys.addAll(after.keySet());
        for (String key : keys) {
            Object old = before.get(key);
            Object fresh = after.get(key);
            if (!Objects.equals(old, fresh)
                    && !policies.contains(Group.POLICIES.name(key))
                    && !rules.contains(Group.RULES.name(key))) {
                all.add("RL-162 " + key + ": " + shown(key, old) + " -> " + shown(key, fresh));
            }
        }
        return List.copyOf(all);
    }

    private static Set<String> without(Set<String> some, Set<String> others) {
        Set<String> rest = new LinkedHashSet<>(some);
        rest.removeAll(others);
        return rest;
    }

    private static Set<String> names(LimiterConfig config) {
        return config.rules().stream().map(RuleDefinition::name).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static String had(Group group, String name, Map<String, ?> text) {
        String settings = text.keySet().stream()
                .filter(key -> name.equals(group.name(key)))
                .map(key -> key.substring(group.start.length() + name.length() + 1) + " = " + shown(key, text.get(key)))
                .collect(Collectors.joining(", "));
        return settings.isEmpty() ? "" : ". It had " + settings;
    }

    private static String shown(String key, @Nullable Object value) {
        if (value instanceof Policy policy) {
            return policy.limits().stream().map(Limit::toString).collect(Collectors.joining(", "));
        }
        return value == null ? "(not set)" : value instanceof String text ? Problem.shown(key, text) : "(made in code)";
    }

    /** What can change. */
    private static Map<String, Object> parts(LimiterConfig config) {
        Map<String, Object> all = new LinkedHashMap<>();
        config.policies().forEach((name, policy) -> all.put(Group.POLICIES.start + name, policy));
        config.rules().forEach(rule -> all.put(Group.RULES.start + rule.name(), rule));
        all.put("limiter.client-ip", config.clientIp());
        all.put("limiter.http", config.http());
        all.put("limiter.exempt and limiter.deny", config.callers());
        all.put("limiter.plans and limiter.plan-lookup", config.plans());
        all.put("limiter.denials", config.denials());
        return all;
    }
}
