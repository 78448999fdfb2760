package io.limiter.config;

import io.limiter.internal.config.Problems;
import java.util.List;

/**
 * A configuration has mistakes. The message lists all of them, each with its property, its value and a remedy, and with its
 * place where there is text.
 */
public final class ConfigException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String[] problems;

    private ConfigException(String message, List<String> problems) {
        super(message);
        this.problems = problems.toArray(new String[0]);
    }

    /** Throws the problems, if there are any. */
    static void throwAll(Problems problems) {
        List<String> all = problems.lines();
        if (!all.isEmpty()) {
            throw new ConfigException(problems.report(), all);
        }
    }

    /** The mistakes one by one, in the order of the text. */
    public List<String> problems() {
        return List.of(problems);
    }
}
