package io.limiter.benchmark;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** Arguments in pairs, such as {@code --callers 64}. Each option has a default. */
public final class Options {
    private final Map<String, String> values = new TreeMap<>();

    /**
     * Reads the arguments.
     *
     * @param defaults the names of all options, each followed by its default
     * @throws IllegalArgumentException if an argument is no option, or lacks its value
     */
    public Options(String[] args, String... defaults) {
        for (int i = 0; i < defaults.length; i += 2) {
            values.put(defaults[i], defaults[i + 1]);
        }
        for (int i = 0; i < args.length; i += 2) {
            String name = args[i].replaceFirst("^--", "");
            if (!values.containsKey(name) || i + 1 == args.length) {
                throw new IllegalArgumentException(args[i] + ": write --" + String.join(" .. --", values.keySet()));
            }
            values.put(name, args[i + 1]);
        }
    }

    /** The value as it was written. */
    public String text(String name) {
        return Objects.requireNonNull(values.get(name), name);
    }

    /** The parts between commas; none of an empty value. */
    public List<String> list(String name) {
        return text(name).isEmpty() ? List.of() : Arrays.asList(text(name).split(","));
    }

    /** The value as a number, such as 0.5. */
    public double number(String name) {
        return Double.parseDouble(text(name));
    }

    /** The value as a whole number. */
    public int whole(String name) {
        return Integer.parseInt(text(name));
    }
}
