package io.limiter.spring.boot;

import io.limiter.config.LimiterConfig;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Finds what key a property means, when case, hyphens and underscores say nothing, as everywhere in Spring Boot. The name of a
 * policy or a rule keeps the spelling that it has.
 */
final class KnownKeys {
    private static final String ROOT = "limiter";
    private static final String NAME = "<name>";
    private static final Pattern INDEX = Pattern.compile("(?<name>.+)\\[(?<index>[0-9]{1,4})]");

    private static final Pattern OTHERS = Pattern.compile("[^a-z0-9]");

    /** The spelling of limiter-core by the uniform one. Of a group the properties of its members. */
    private static final Map<String, String> SINGLE = new LinkedHashMap<>();

    private static final Map<String, Map<String, String>> GROUPS = new LinkedHashMap<>();

    static {
        List<String> all = new ArrayList<>(LimiterConfig.keys());
        all.addAll(BootKeys.ALL);
        for (String key : all) {
            int name = key.indexOf(NAME);
            if (name < 0) {
                SINGLE.put(uniform(key), key);
            } else {
                String property = key.substring(name + NAME.length() + 1);
                GROUPS.computeIfAbsent(key.substring(0, name - 1), group -> new LinkedHashMap<>())
                        .put(uniform(property), property);
            }
        }
    }

    private KnownKeys() {}

    /**
     * A key as limiter-core writes it, or as it was written where it is unknown.
     *
     * @param uniform the same for all spellings
     * @param isSection whether it is a known section and no key
     */
    record Key(String text, String uniform, boolean isSection) {}

    /**
     * A property that may be an item of a list.
     *
     * @param index -1 where it is none
     */
    record Indexed(String name, int index) {
        static Indexed of(String property) {
            Matcher matcher = INDEX.matcher(property);
            return matcher.matches()
                    ? new Indexed(matcher.group("name"), Integer.parseInt(matcher.group("index")))
                    : new Indexed(property, -1);
        }
    }

    /** The key that a property means; null when it is none of ours. */
    static @Nullable Key find(String property) {
        List<String> parts = parts(property);
        if (parts.size() < 2 || !uniform(parts.get(0)).equals(ROOT)) {
            return null;
        }
        String written = String.join(".", parts);
        String single = SINGLE.get(uniform(written));
        if (single != null) {
            return of(single);
        }
        for (Map.Entry<String, Map<String, String>> group : GROUPS.entrySet()) {
            if (parts.size() > 3 && uniform(parts.get(0) + "." + parts.get(1)).equals(group.getKey())) {
                String last = parts.get(parts.size() - 1);
                return of(group.getKey() + "." + String.join(".", parts.subList(2, parts.size() - 1)) + "."
                        + group.getValue().getOrDefault(uniform(last), last));
            }
        }
        String start = uniform(written) + ".";
        boolean isSection =
                SINGLE.keySet().stream().anyMatch(key -> key.startsWith(start)) || GROUPS.containsKey(uniform(written));
        return new Key(ROOT + written.substring(parts.get(0).length()), uniform(written), isSection);
    }

    /** Those that have no name in them, for sources that can be asked and can't be listed. */
    static String[] single() {
        return SINGLE.values().toArray(String[]::new);
    }

    /** Whether it is known, and has no name in it. */
    static boolean isSingle(Key key) {
        return SINGLE.containsKey(key.uniform());
    }

    static Key of(String key) {
        return new Key(key, uniform(key), false);
    }

    /** Without what Spring Boot ignores in names. */
    static String uniform(String key) {
        return key.toLowerCase(Locale.ROOT).replace("-", "").replace("_", "");
    }

    /** Letters and digits alone: what a key and a variable of the environment have in common. */
    static String letters(String key) {
        return OTHERS.matcher(key.toLowerCase(Locale.ROOT)).replaceAll("");
    }

    /** Between dots; what stands in brackets is one part, whatever is in it. */
    private static List<String> parts(String property) {
        List<String> parts = new ArrayList<>();
        StringBuilder part = new StringBuilder();
        boolean inBrackets = false;
        for (int i = 0; i < property.length(); i++) {
            char c = property.charAt(i);
            boolean ends = inBrackets ? c == ']' : c == '.' || c == '[';
            if (!ends) {
                part.append(c);
                continue;
            }
            if (!part.isEmpty()) {
                parts.add(part.toString());
                part.setLength(0);
            }
            inBrackets = c == '[';
        }
        if (!part.isEmpty()) {
            parts.add(part.toString());
        }
        return parts;
    }
}
