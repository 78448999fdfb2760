package io.limiter.internal.config;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The properties that are written, read by the table {@link ConfigKey}: a key that is not written has its default, and
 * mistakes are noted. Used once.
 */
final class PropertyReader {
    /** The source of an entry that is a variable of the environment begins with this. */
    static final String VARIABLE = "environment variable ";

    private final Problems problems;
    private final Map<String, ConfigEntry> byKey = new LinkedHashMap<>();

    /** The keys of values that can't be read. */
    private final Set<String> unreadable = new HashSet<>();

    /** What a reload can't change. */
    private final Map<String, @Nullable Object> fixed = new LinkedHashMap<>();

    /** Of two entries of a key the later one counts. */
    PropertyReader(List<ConfigEntry> entries, Problems problems) {
        this.problems = problems;
        for (ConfigEntry entry : entries) {
            byKey.put(entry.key(), entry);
        }
        byKey.values().forEach(problems::checkSeen);
    }

    Map<String, ConfigEntry> byKey() {
        return Collections.unmodifiableMap(byKey);
    }

    Map<String, @Nullable Object> fixed() {
        return Collections.unmodifiableMap(fixed);
    }

    /** Sets what a reload can't change, where other properties decide it. */
    void fix(String key, Object value) {
        fixed.put(key, value);
    }

    boolean has(String key) {
        return byKey.containsKey(key);
    }

    /** Notes a mistake in the entry of a key or, if there is none, in the first entry of the same policy or rule. */
    void note(String key, String text) {
        ConfigEntry entry = byKey.get(key);
        for (ConfigEntry other : byKey.values()) {
            entry = entry == null && section(other.key()).equals(section(key)) ? other : entry;
        }
        problems.add(entry == null ? new ConfigEntry("", 0, key, "") : entry, text);
    }

    private static String section(String key) {
        return key.substring(0, key.lastIndexOf('.') + 1);
    }

    /** Notes a mistake unless this is right. What replaces an unreadable value has no mistakes of its own. */
    void must(String key, boolean right, String text) {
        if (!right && !unreadable.contains(key)) {
            note(key, text);
        }
    }

    /** Notes the entries that contradict others, or lack one, by the table. */
    void checkTogether() {
        for (ConfigEntry entry : byKey.values()) {
            ConfigKey known = ConfigKey.find(entry.key());
            String conflict = known == null ? null : known.conflict(entry, byKey);
            must(entry.key(), conflict == null, String.valueOf(conflict));
        }
    }

    /** Notes the mistake that a check throws as an {@link IllegalArgumentException}. */
    void check(String key, Runnable check) {
        try {
            check.run();
        } catch (IllegalArgumentException mistake) {
            must(key, false, String.valueOf(mistake.getMessage()));
        }
    }

    /** The parsed value; that of the default if there is no entry, or it is invalid, which is noted; null for neither. */
    <T> @Nullable T read(String key, Function<String, ? extends T> parser) {
        ConfigKey known = Objects.requireNonNull(ConfigKey.find(key), key);
        ConfigEntry entry = byKey.get(key);
        T value = known.usual() == null ? null : parser.apply(known.usual());
        try {
            if (entry != null) {
                known.check(entry.value());
                value = parser.apply(entry.value());
            }
        } catch (IllegalArgumentException e) {
            must(key, false, String.valueOf(e.getMessage()));
            unreadable.add(key);
        }
        if (known.needsRestart()) {
            fixed.put(key, value);
        }
        return value;
    }

    <T> T read(String key, T fallback, Function<String, ? extends T> parser) {
        return Objects.requireNonNullElse(read(key, parser), fallback);
    }

    @Nullable
    String text(String key) {
        return read(key, text -> text);
    }

    List<String> words(String key) {
        return each(key, word -> word);
    }

    /** The items of a list, parsed; none if there is no entry, or an item is invalid, which is noted. */
    <T> List<T> each(String key, Function<String, T> parser) {
        return read(key, List.of(), text -> LimitText.each(LimitText.items(text), parser));
    }

    /** A number in the range of the table, or the fallback. */
    long number(String key, long fallback) {
        return read(key, fallback, Long::valueOf);
    }

    int number(String key) {
        return (int) number(key, 0);
    }

    /** A duration in the range of the table; null if there is none. */
    @Nullable
    Duration duration(String key) {
        return read(key, LimitText::parseDuration);
    }

    Duration duration(String key, Duration fallback) {
        return Objects.requireNonNullElse(duration(key), fallback);
    }

    boolean yes(String key) {
        return read(key, false, Boolean::valueOf);
    }

    <E extends Enum<E>> E choice(String key, String what, E fallback) {
        return read(key, fallback, text -> chosen(text, what, fallback));
    }

    /** The choice named by a text, of the type of {@code other}. */
    static <E extends Enum<E>> E chosen(String text, String what, E other) {
        E[] choices = other.getDeclaringClass().getEnumConstants();
        List<String> words = Arrays.stream(choices)
                .map(choice -> choice.name().toLowerCase(Locale.ROOT).replace('_', '-'))
                .toList();
        int index = words.indexOf(text.toLowerCase(Locale.ROOT));
        Problems.refuseIf(
                index < 0, "not a " + what + "; write " + String.join(" or ", words) + Suggestion.of(text, words));
        return choices[index];
    }
}
