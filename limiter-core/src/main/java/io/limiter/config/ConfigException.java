package io.limiter.config;

import java.util.List;

/**
 * A configuration has mistakes, in its text or in the values that code gives. The message lists all of them, each with its
 * property, its value and a remedy, and with its place where there is text.
 */
public final class ConfigException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> problems;
    private final transient List<Problems.Problem> found;

    ConfigException(String message, List<String> problems, List<Problems.Problem> found) {
        super(message);
        this.problems = List.copyOf(problems);
        this.found = List.copyOf(found);
    }

    /** The mistakes one by one, in the order of the text. */
    public List<String> problems() {
        return problems;
    }

    /** The same, for who knows where the properties stand. */
    List<Problems.Problem> found() {
        return found;
    }
}
