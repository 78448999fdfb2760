package io.limiter.internal.config;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The differences between two configurations, in the words of their texts. */
public final class ConfigDiff {
    private ConfigDiff() {}

    /** The properties that differ and need a restart. */
    public static List<String> needingRestart(Settings now, Settings next) {
        Map<String, ?> before = now.reload().fixed();
        Map<String, ?> after = next.reload().fixed();
        return after.keySet().stream()
                // A configuration in code does not have the application's own keys.
                .filter(key -> before.containsKey(key) && !Objects.equals(before.get(key), after.get(key)))
                .filter(key -> !key.equals(ReloadSettings.INTERVAL)
                        || next.reload().source().isReadable())
                .map(ConfigKeys::inShort)
                .distinct()
                .toList();
    }

    /** Sentences that begin with their code; empty if nothing differs that can change while a limiter runs. */
    public static List<String> of(Settings now, Settings next) {
        Map<String, String> before = now.reload().text();
        Map<String, String> after = next.reload().text();
        Set<String> policies = without(now.policies().keySet(), next.policies().keySet());
        Set<String> rules = without(names(now), names(next));
        List<String> all = new ArrayList<>();
        policies.forEach(name -> all.add("RL-161 policy '" + name
                + "' was removed and counts nothing any more; calls that wait for it are denied"
                + had(NamedKeys.POLICIES, name, before)));
        rules.forEach(name -> all.add("RL-161 rule '" + name + "' was removed and counts nothing any more"
                + had(NamedKeys.RULES, name, before)));
        Set<String> keys = new LinkedHashSet<>(before.keySet());
        keys.addAll(after.keySet());
        for (String key : keys) {
            String old = before.get(key);
            String fresh = after.get(key);
            if (!Objects.equals(old, fresh)
                    && !policies.contains(NamedKeys.POLICIES.name(key))
                    && !rules.contains(NamedKeys.RULES.name(key))) {
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

    private static Set<String> names(Settings settings) {
        return settings.rules().stream().map(RuleDefinition::name).collect(Collectors.toCollection(LinkedHashSet::new));
    }

    private static String had(NamedKeys group, String name, Map<String, String> text) {
        String settings = text.keySet().stream()
                .filter(key -> name.equals(group.name(key)))
                .map(key -> key.substring(group.start.length() + name.length() + 1) + " = " + shown(key, text.get(key)))
                .collect(Collectors.joining(", "));
        return settings.isEmpty() ? "" : ". It had " + settings;
    }

    private static String shown(String key, @Nullable String value) {
        return value == null ? "(not set)" : Problems.shown(key, value);
    }
}
