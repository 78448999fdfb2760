package io.limiter.internal.config;

import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The keys with a name in them: {@code limiter.policies.<name>.limits}. */
enum NamedKeys {
    /** Those of policies. */
    POLICIES,
    /** Those of plans. */
    PLANS,
    /** Those of rules. */
    RULES;

    /** The common prefix of its keys. */
    final String start = "limiter." + name().toLowerCase(Locale.ROOT) + ".";

    /** The suffixes after the name; the first one is required in a policy or rule. */
    final List<String> properties = ConfigKey.all().stream()
            .map(ConfigKey::name)
            .filter(key -> key.startsWith(start + ConfigKey.NAME))
            .map(key -> key.substring(start.length() + ConfigKey.NAME.length() + 1))
            .toList();

    /** Whether a key is in any of the groups. */
    static boolean has(String key) {
        return Arrays.stream(values()).anyMatch(group -> group.name(key) != null);
    }

    /** The name in a key of this group; null in another key. */
    @Nullable
    String name(String key) {
        for (String property : properties) {
            int dot = key.length() - property.length() - 1;
            if (dot > start.length() && key.charAt(dot) == '.' && key.startsWith(start) && key.endsWith(property)) {
                return key.substring(start.length(), dot);
            }
        }
        return null;
    }

    /** The names in all of these entries. */
    Set<String> names(Collection<ConfigEntry> entries) {
        return entries.stream()
                .map(entry -> name(entry.key()))
                .filter(Objects::nonNull)
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** All keys of a name. */
    List<String> keys(String name) {
        return properties.stream()
                .map(property -> start + name + "." + property)
                .toList();
    }
}
