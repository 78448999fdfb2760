package io.limiter.config;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The differences between two configurations, for the log. */
final class Changes {
    private Changes() {}

    /** Sentences that begin with their code; empty if nothing differs that can change while a limiter runs. */
    static List<String> of(LimiterConfig now, LimiterConfig next) {
        Map<String, Map<String, Object>> before = sections(now);
        Map<String, Map<String, Object>> after = sections(next);
        Set<String> names = new LinkedHashSet<>(before.keySet());
        names.addAll(after.keySet());
        List<String> all = new ArrayList<>();
        for (String name : names) {
            Map<String, Object> old = before.get(name);
            Map<String, Object> fresh = after.get(name);
            if (fresh == null) {
                all.add("RL-161 " + name + " was removed and counts nothing any more; it had " + old);
            } else if (old == null) {
                all.add("RL-162 " + name + " is new: " + fresh);
            } else if (!old.equals(fresh)) {
                all.add("RL-162 " + name + " had " + without(old, fresh) + " and has " + without(fresh, old));
            }
        }
        return List.copyOf(all);
    }

    private static Map<String, Object> without(Map<String, Object> some, Map<String, Object> others) {
        Map<String, Object> rest = new LinkedHashMap<>(some);
        rest.entrySet().removeAll(others.entrySet());
        return rest;
    }

    /** Everything that can change, by name and then by property. */
    private static Map<String, Map<String, Object>> sections(LimiterConfig config) {
        Map<String, Map<String, Object>> all = new LinkedHashMap<>();
        config.policies().forEach((name, policy) -> {
            Map<String, Object> section = section(all, "policy '" + name + "'");
            section.put("limits", policy.limits());
            section.put("on-failure", policy.onFailure());
            section.put("deadline", shown(policy.deadline()));
        });
        for (RuleDefinition rule : config.rules()) {
            Map<String, Object> section = section(all, "rule '" + rule.name() + "'");
            section.put("path", rule.paths());
            section.put("methods", rule.methods());
            section.put("key", rule.key());
            section.put("ipv6-prefix", rule.ipv6PrefixBits());
            // The limits are those of the policies.
            section.put(
                    "policy", rule.policies().stream().map(one -> one.name()).toList());
            section.put("position", rule.position());
            section.put("scope", rule.scope());
            section.put("mode", rule.mode());
            section.put("cost", rule.charging().cost());
            section.put("member", rule.charging().member());
            section.put("wait", rule.charging().maxWait());
            section.put("outcomes", shown(rule.charging().outcomes()));
            RulePlans plans = rule.charging().plans();
            section.put("plan", plans == null ? "none" : plans.source() + " " + plans.name());
            section.put("default-plan", rule.policy().name());
        }
        Map<String, Object> section = section(all, "limiter");
        section.put("client-ip", config.clientIp());
        section.put("http", config.http());
        section.put("exempt and deny", config.callers());
        section.put("plans", config.plans());
        section.put("denials", config.denials());
        return all;
    }

    private static Map<String, Object> section(Map<String, Map<String, Object>> all, String name) {
        return all.computeIfAbsent(name, n -> new LinkedHashMap<>());
    }

    private static Object shown(@Nullable Object value) {
        return Objects.requireNonNullElse(value, "none");
    }
}
