package io.limiter.spring.boot;

import io.limiter.internal.config.ConfigKey;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;

/**
 * Finds the limiter's key for a property, by Spring Boot's rules: case, hyphens and underscores are ignored. The name
 * of a policy or a rule keeps its spelling.
 */
final class KnownKeys {
    /** A key of limiter-core, which also decides here which beans exist. */
    static final String ENABLED = "limiter.enabled";

    /** The keys that limiter-core does not read. */
    static final List<String> OF_SPRING = ConfigKey.names(true);

    private static final Pattern WRITTEN = Pattern.compile("(?:[A-Za-z0-9._-]|\\[[^\\]]*])+");
    private static final Set<String> GROUPS = Set.of("policies", "plans", "rules");

    /** All keys as limiter-core writes them, by their uniform spelling. */
    private static final Map<String, String> ALL = new LinkedHashMap<>();

    static {
        Stream.of(ConfigKey.names(false), OF_SPRING)
                .flatMap(Collection::stream)
                .forEach(key -> ALL.put(uniform(key), key));
    }

    private KnownKeys() {}

    /**
     * A known key, or an unknown one below the limiter's prefix.
     *
     * @param text as limiter-core writes it, or as it was written if it is unknown
     * @param isKnown whether there is such a key
     * @param index the index of the item of a list; -1 if it is not one
     */
    record Key(String text, boolean isKnown, int index) {
        /** Whether there are keys below it: a file may have such a line without a value. */
        boolean isSection() {
            return ALL.keySet().stream().anyMatch(key -> key.startsWith(uniform(text) + "."));
        }
    }

    /** The key of a property; null if it is not one of the limiter's. */
    static @Nullable Key find(String property) {
        if (!WRITTEN.matcher(property).matches()) {
            // Spring Boot would drop the other characters, and two names could become equal.
            return property.regionMatches(true, 0, "limiter.", 0, 8) ? new Key(property, false, -1) : null;
        }
        ConfigurationPropertyName name = ConfigurationPropertyName.adapt(property, '.');
        int index = -1;
        if (name.isLastElementIndexed() && name.getLastElement(Form.ORIGINAL).matches("[0-9]{1,4}")) {
            index = Integer.parseInt(name.getLastElement(Form.ORIGINAL));
            name = name.getParent();
        }
        int last = name.getNumberOfElements() - 1;
        if (last < 1 || !name.getElement(0, Form.UNIFORM).equals("limiter")) {
            return null;
        }
        String group = name.getElement(1, Form.UNIFORM);
        boolean isOfOne = last > 2 && GROUPS.contains(group);
        // Of rules.api.exempt.users, the owner is rules.api.
        int end = last > 3 && ALL.containsKey(uniform(ofOne(group, elements(name, last - 1, last + 1))))
                ? last - 1
                : last;
        String owner = isOfOne ? group + "." + elements(name, 2, end) : "";
        String start = isOfOne ? "limiter." + owner + "." : "limiter.";
        String rest = elements(name, isOfOne ? end : 1, last + 1);
        String known = ALL.get(uniform(isOfOne ? ofOne(group, rest) : start + rest));
        String text = known == null ? start + rest : known.replace(group + "." + ConfigKey.NAME, owner);
        return new Key(text, known != null, index);
    }

    private static String ofOne(String group, String rest) {
        return "limiter." + group + "." + ConfigKey.NAME + "." + rest;
    }

    private static String elements(ConfigurationPropertyName name, int from, int to) {
        return IntStream.range(from, to)
                .mapToObj(i -> name.getElement(i, Form.ORIGINAL))
                .collect(Collectors.joining("."));
    }

    /** The keys without a name, for sources that can be queried but not listed. */
    static Stream<String> single() {
        return ALL.values().stream().filter(key -> !key.contains(ConfigKey.NAME));
    }

    /** Without what Spring Boot ignores in names. */
    static String uniform(String key) {
        return key.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
    }
}
