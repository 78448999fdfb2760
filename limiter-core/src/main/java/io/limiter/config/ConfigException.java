package io.limiter.config;

import java.util.List;

/**
 * A configuration has mistakes. The message lists all of them, each with its property, its value and a remedy, and with its
 * place where there is text.
 */
public final class ConfigException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> problems;

    ConfigException(String message, List<String> problems) {
        super(message);
        this.problems = problems;
    }

    /** The mistakes one by one, in the order of the text. */
    public List<String> problems() {
        return problems;
    }
}
