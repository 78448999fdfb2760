package io.limiter.internal.config;

import java.util.ArrayList;
import java.util.Collection;
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
                .filter(key ->
                        !key.equals(ReloadSettings.INTERVAL) || next.reload().files() != null)
                .map(ConfigKeys::inShort)
                .distinct()
                .toList();
    }

    /** Sentences that begin with their code; empty if nothing differs that can change while a limiter runs. */
    public static List<String> of(Settings now, Settings next) {
        Map<String, ConfigEntry> before = now.reload().entries();
        Map<String, ConfigEntry> after = next.reload().entries();
        Set<String> keys = new LinkedHashSet<>(before.keySet());
        keys.addAll(after.keySet());
        // What needs a restart can't differ, and has the secrets.
        keys.removeIf(key -> ConfigKeys.needsRestart(key));
        List<String> all = new ArrayList<>();
        removed(now.policies().keySet(), next.policies().keySet())
                .forEach(name -> all.add("RL-161 policy '" + name
                        + "' was removed and counts nothing any more; calls that wait for it are denied"
                        + had(NamedKeys.POLICIES, name, keys, before)));
        removed(now.rulesThat(rule -> true), next.rulesThat(rule -> true))
                .forEach(name -> all.add("RL-161 rule '" + name + "' was removed and counts nothing any more"
                        + had(NamedKeys.RULES, name, keys, before)));
        for (String key : keys) {
            ConfigEntry old = before.get(key);
            ConfigEntry fresh = after.get(key);
            if (old == null || fresh == null || !old.value().equals(fresh.value())) {
                all.add("RL-162 " + key + ": " + shown(old) + " -> " + shown(fresh));
            }
        }
        return List.copyOf(all);
    }

    private static Set<String> removed(Collection<String> before, Collection<String> after) {
        Set<String> removed = new LinkedHashSet<>(before);
        removed.removeAll(after);
        return removed;
    }

    /** What a policy or rule had that was removed; takes its keys out of those to compare. */
    private static String had(NamedKeys group, String name, Set<String> keys, Map<String, ConfigEntry> before) {
        keys.removeIf(key -> name.equals(group.name(key)) && !before.containsKey(key));
        List<String> its =
                keys.stream().filter(key -> name.equals(group.name(key))).toList();
        its.forEach(keys::remove);
        return its.stream()
                .map(key -> key.substring(group.start.length() + name.length() + 1) + " = " + shown(before.get(key)))
                .collect(Collectors.joining(", ", its.isEmpty() ? "" : ". It had ", ""));
    }

    private static String shown(@Nullable ConfigEntry entry) {
        return entry == null ? "(not set)" : Problems.shown(entry.key(), entry.value());
    }
}
