package io.limiter.config;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Collects the mistakes in text or values, to report all of them together. */
final class Problems {

    private final List<Problem> found = new ArrayList<>();
    private final Set<String> reportedKeys = new HashSet<>();

    void add(ConfigEntry at, String text) {
        if (!reportedKeys.contains(at.key())) {
            found.add(new Problem(at, text));
        }
    }

    /** A problem at a place. */
    void add(String source, int line, String text) {
        add(new ConfigEntry(source, line, "", ""), text);
    }

    /** A problem of a key; its further problems are not reported, because they may have the same cause. */
    void addFirst(String source, int line, String key, String text) {
        reportedKeys.add(key);
        add(source, line, text);
    }

    /** Throws an {@link IllegalArgumentException} if a value is wrong. */
    static void refuseIf(boolean wrong, String text) {
        if (wrong) {
            throw new IllegalArgumentException(text);
        }
    }

    /** For the checks of a value that text or code gives for a property; null for none. */
    <T> Property<T> on(String key, @Nullable T value) {
        return new Property<>(key, value);
    }

    /** A property and its value. A failed check is a problem. */
    final class Property<T> {
        private final String key;
        private final @Nullable T value;

        private Property(String key, @Nullable T value) {
            this.key = key;
            this.value = value;
        }

        Property<T> must(boolean right, String text) {
            if (!right) {
                String shown = value instanceof Collection<?> items
                        ? items.stream().map(String::valueOf).collect(Collectors.joining(", "))
                        : String.valueOf(value);
                add(new ConfigEntry("", 0, key, shown), text);
            }
            return this;
        }

        /** The check throws an {@link IllegalArgumentException}; it runs only if there is a value. */
        Property<T> check(Consumer<? super T> check) {
            try {
                if (value != null) {
                    check.accept(value);
                }
                return this;
            } catch (IllegalArgumentException e) {
                return must(false, String.valueOf(e.getMessage()));
            }
        }
    }

    /** For a number. */
    void range(String key, long value, long least, long most) {
        on(key, value)
                .must(
                        value >= least && value <= most,
                        "not a whole number from " + least + " to " + most + "; write one of these");
    }

    void throwIfAny() {
        if (!found.isEmpty()) {
            found.sort(
                    Comparator.<Problem, String>comparing(p -> p.at().source()).thenComparing(p -> p.at().line()));
            throw new ConfigException(found);
        }
    }
}
