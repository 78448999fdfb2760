package io.limiter.config;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Collects what is wrong with text or with values, to tell it all at once. */
final class Problems {
    private static final int LONGEST_VALUE = 120;
    private static final Pattern SECRET = Pattern.compile("(?i)pas|pwd|psw|secret|token|credential|[.-]auth$");

    /** Codes of docs/diagnostics.md. */
    static final String UNKNOWN = "RL-101";

    static final String TWICE = "RL-102";
    static final String UNREADABLE = "RL-103";
    static final String VALUE = "RL-104";
    static final String MISSING = "RL-105";
    static final String CONTRADICTION = "RL-106";
    static final String NO_POLICY = "RL-107";

    /**
     * Something wrong.
     *
     * @param code empty where the text begins with it
     * @param at the property and its value; without a key where only the place counts
     */
    record Problem(String code, ConfigEntry at, String text) {
        private String told() {
            String value = SECRET.matcher(at.key()).find() ? "***" : shown(at.value());
            return (code + " " + (at.key().isEmpty() ? "" : shown(at.key()) + " = " + value + ": ") + text).strip();
        }
    }

    private final List<String> sources = new ArrayList<>();
    private final List<Problem> found = new ArrayList<>();
    private final Set<String> keysTold = new LinkedHashSet<>();

    /** Names a place where text comes from. */
    void source(String source) {
        sources.add(source);
    }

    void add(String code, ConfigEntry at, String text) {
        if (!keysTold.contains(at.key())) {
            found.add(new Problem(code, at, text));
        }
    }

    /** A problem of a place. */
    void add(String code, String source, int line, String text) {
        add(code, new ConfigEntry(source, line, "", ""), text);
    }

    /**
     * A problem of a key; what else is wrong with it is not told, for it may be wrong for that reason.
     *
     * @param text begins with its code
     */
    void addFirst(String source, int line, String key, String text) {
        keysTold.add(key);
        add("", source, line, text);
    }

    /** For the checks of a value that text or code gives for a property; null for none. */
    <T> Property<T> on(String key, @Nullable T value) {
        return new Property<>(key, value);
    }

    /** A property and its value. A check that fails is a problem. */
    final class Property<T> {
        private final String key;
        private final @Nullable T value;

        private Property(String key, @Nullable T value) {
            this.key = key;
            this.value = value;
        }

        /** The value must be right. */
        Property<T> is(boolean right, String text) {
            return require(right, VALUE, text);
        }

        /** The value needs something besides. */
        Property<T> has(boolean there, String text) {
            return require(there, MISSING, text);
        }

        /** The value must go with the others. */
        Property<T> fits(boolean fitting, String text) {
            return require(fitting, CONTRADICTION, text);
        }

        /** The check throws an {@link IllegalArgumentException}; it is made where there is a value. */
        Property<T> check(Consumer<? super T> check) {
            try {
                if (value != null) {
                    check.accept(value);
                }
                return this;
            } catch (IllegalArgumentException e) {
                return is(false, String.valueOf(e.getMessage()));
            }
        }

        private Property<T> require(boolean met, String code, String text) {
            if (!met) {
                String shown = value instanceof Collection<?> items
                        ? items.stream().map(String::valueOf).collect(Collectors.joining(", "))
                        : String.valueOf(value);
                add(code, new ConfigEntry("", 0, key, shown), text);
            }
            return this;
        }
    }

    /** For a number. */
    void range(String key, long value, long least, long most) {
        on(key, value).is(value >= least && value <= most, "no whole number from " + least + " to " + most);
    }

    void throwIfAny() {
        if (found.isEmpty()) {
            return;
        }
        found.sort(Comparator.<Problem>comparingInt(p -> sources.indexOf(p.at.source()) & Integer.MAX_VALUE)
                .thenComparingInt(p -> p.at.line()));
        String first = found.get(0).at.source();
        boolean oneSource = found.stream().allMatch(p -> p.at.source().equals(first));
        List<String> lines = new ArrayList<>();
        for (Problem problem : found) {
            ConfigEntry at = problem.at;
            String place = (oneSource ? "" : at.source()) + (at.line() > 0 ? " line " + at.line() : "");
            lines.add(place.isEmpty() ? problem.told() : place.strip() + ": " + problem.told());
        }
        throw new ConfigException(
                (oneSource && !first.isEmpty() ? first : "the configuration") + " has " + found.size()
                        + (found.size() == 1 ? " problem:\n  " : " problems:\n  ") + String.join("\n  ", lines),
                lines,
                found);
    }

    /** Text fit for a message: one line, not endless, without a password. */
    static String shown(String text) {
        int at = text.lastIndexOf('@');
        String masked = (at < 0 ? text : "***" + text.substring(at)).replaceFirst("(://[^?]*\\?).*", "$1***");
        StringBuilder shown = new StringBuilder();
        masked.codePoints().limit(LONGEST_VALUE).forEach(c -> {
            if (Character.isISOControl(c)) {
                shown.append(String.format("\\u%04x", c));
            } else {
                shown.appendCodePoint(c);
            }
        });
        return masked.codePointCount(0, masked.length()) > LONGEST_VALUE ? shown + "..." : shown.toString();
    }
}
