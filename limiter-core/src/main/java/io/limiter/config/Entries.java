package io.limiter.config;

import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The entries of a configuration, read key by key; mistakes are noted. Used once. */
final class Entries {
    private final Problems problems;
    private final Map<String, ConfigEntry> byKey = new LinkedHashMap<>();

    /** The keys of values that can't be read. */
    private final Set<String> unreadable = new HashSet<>();

    /** The keys that were read, whether or not there is an entry. */
    final Set<String> asked = new LinkedHashSet<>();

    /** Of two entries of a key the later one counts. */
    Entries(List<ConfigEntry> entries, Problems problems) {
        this.problems = problems;
        entries.forEach(entry -> byKey.put(entry.key(), entry));
    }

    /** All entries. */
    List<ConfigEntry> all() {
        return List.copyOf(byKey.values());
    }

    @Nullable
    ConfigEntry get(String key) {
        return byKey.get(key);
    }

    /** Notes a mistake in the entry of a key or, if there is none, in the first entry of the same policy or rule. */
    void note(String key, String text) {
        ConfigEntry entry = byKey.get(key);
        for (ConfigEntry other : byKey.values()) {
            entry = entry == null && section(other.key()).equals(section(key)) ? other : entry;
        }
        problems.add(entry == null ? new ConfigEntry("", 0, key, "") : entry, text);
    }

    static String section(String key) {
        return key.substring(0, key.lastIndexOf('.') + 1);
    }

    /** The value that the supplier makes; null if it is invalid, which is noted at its entries. */
    <T> @Nullable T made(Supplier<T> maker) {
        try {
            return maker.get();
        } catch (ConfigException e) {
            // What replaces an unreadable value has no mistakes of its own.
            e.found().stream()
                    .filter(problem -> !unreadable.contains(problem.at().key()))
                    .forEach(problem -> note(problem.at().key(), problem.text()));
            return null;
        }
    }

    <T> T made(T fallback, Supplier<T> maker) {
        T made = made(maker);
        return made == null ? fallback : made;
    }

    /** The parsed value of an entry; null if there is no entry, or it is invalid, which is noted. */
    <T> @Nullable T read(String key, Function<String, T> parser) {
        asked.add(key);
        ConfigEntry entry = byKey.get(key);
        try {
            return entry == null ? null : parser.apply(entry.value());
        } catch (IllegalArgumentException e) {
            note(key, String.valueOf(e.getMessage()));
            unreadable.add(key);
            return null;
        }
    }

    <T> T read(String key, T fallback, Function<String, T> parser) {
        T value = read(key, parser);
        return value == null ? fallback : value;
    }

    @Nullable
    String text(String key) {
        return read(key, text -> text);
    }

    List<String> words(String key) {
        return read(key, List.of(), LimitText::items);
    }

    /** A number; invalid text, or 0, is out of every range. */
    long number(String key, long fallback) {
        return read(key, fallback, text -> text.matches("0*[1-9][0-9]{0,17}") ? Long.parseLong(text) : -1);
    }

    int number(String key, int fallback) {
        return (int) Math.min(number(key, (long) fallback), Integer.MAX_VALUE);
    }

    boolean yes(String key, boolean fallback) {
        return read(key, fallback, text -> {
            Problems.refuseIf(!text.matches("true|false"), "not a boolean; write true or false");
            return text.equals("true");
        });
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
