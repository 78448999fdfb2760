package io.limiter.tools;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a command: words, {@code --name value} and {@code --flag}. The help is their table: an option that it does not name
 * does not exist, and one has a value if the help names that after it.
 */
record Options(List<String> words, Map<String, String> values) {
    static final String HELP = help();

    private static final Pattern OPTION = Pattern.compile("--([a-z-]+)( \\(?[A-Za-z])?");

    /** @throws IllegalArgumentException for an option that does not exist, or has no value */
    static Options of(String... arguments) {
        Options read = new Options(new ArrayList<>(), new HashMap<>());
        Deque<String> rest = new ArrayDeque<>(List.of(arguments));
        while (!rest.isEmpty()) {
            String argument = rest.pop();
            if (argument.startsWith("--")) {
                String name = argument.substring(2);
                String value = hasValue(name) ? rest.poll() : "true";
                if (value == null) {
                    throw new IllegalArgumentException(argument + " has no value");
                }
                read.values.put(name, value);
            } else {
                read.words.add(argument);
            }
        }
        return read;
    }

    private static boolean hasValue(String name) {
        Matcher option = OPTION.matcher(HELP);
        while (option.find()) {
            if (option.group(1).equals(name)) {
                return option.group(2) != null;
            }
        }
        throw new IllegalArgumentException("there is no option --" + name);
    }

    private static String help() {
        try (InputStream text = Options.class.getResourceAsStream("help.txt")) {
            return new String(Objects.requireNonNull(text, "help.txt").readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

    @Nullable
    String get(String name) {
        return values.get(name);
    }
}
