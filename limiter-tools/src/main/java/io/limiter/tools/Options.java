package io.limiter.tools;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The arguments of a command: words, {@code --name value} and {@code --flag}. */
final class Options {
    private static final Set<String> FLAGS =
            Set.of("json", "wait", "if-all-accept", "dry-run", "yes", "blocked", "unlimited");

    private final List<String> words = new ArrayList<>();
    private final Map<String, String> values = new HashMap<>();
    private final Set<String> known;

    /** @param known the options that have values */
    Options(Set<String> known, String... arguments) {
        this.known = known;
        Deque<String> rest = new ArrayDeque<>(Arrays.asList(arguments));
        while (!rest.isEmpty()) {
            String argument = rest.pop();
            if (!argument.startsWith("--")) {
                words.add(argument);
                continue;
            }
            String name = argument.substring(2);
            if (FLAGS.contains(name)) {
                values.put(name, "true");
            } else if (known.contains(name)) {
                String value = rest.poll();
                if (value == null) {
                    throw new IllegalArgumentException(argument + " has no value");
                }
                values.put(name, value);
            } else {
                throw new IllegalArgumentException("there is no option " + argument);
            }
        }
    }

    boolean has(String flag) {
        return values.containsKey(flag);
    }

    @Nullable
    String get(String name) {
        if (!known.contains(name)) {
            throw new IllegalStateException(name);
        }
        return values.get(name);
    }

    String get(String name, String other) {
        String value = get(name);
        return value == null ? other : value;
    }

    String required(String name) {
        String value = get(name);
        if (value == null) {
            throw new IllegalArgumentException("--" + name + " is missing");
        }
        return value;
    }

    /** The word at that place. */
    String word(int index, String what) {
        if (index >= words.size()) {
            throw new IllegalArgumentException(what + " is missing");
        }
        return words.get(index);
    }

    int size() {
        return words.size();
    }
}
