package io.limiter.config;

import java.util.List;

/** Configuration text has mistakes. The message lists all of them, each with its place, its value and a remedy. */
public final class ConfigException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> problems;

    ConfigException(String message, List<String> problems) {
        super(message);
        this.problems = List.copyOf(problems);
    }

    /** The mistakes one by one, in the order of the text. */
    public List<String> problems() {
        return problems;
    }
}
