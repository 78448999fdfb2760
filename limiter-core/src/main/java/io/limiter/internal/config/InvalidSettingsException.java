package io.limiter.internal.config;

import java.util.List;

/** Settings have mistakes. The message lists all of them. */
public final class InvalidSettingsException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> problems;

    InvalidSettingsException(String message, List<String> problems) {
        super(message);
        this.problems = List.copyOf(problems);
    }

    /** The mistakes one by one, in the order of the text. */
    public List<String> problems() {
        return problems;
    }
}
