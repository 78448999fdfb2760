package io.limiter.example.fair.shell;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Names that a request may put into a key of Redis. */
public final class Names {
    private static final Pattern NAME = Pattern.compile("[\\p{L}\\p{N} ._-]{1,40}");

    private Names() {}

    /**
     * Returns the value.
     *
     * @throws IllegalArgumentException if it is missing, too long, or has other characters
     */
    public static String checked(String field, @Nullable String value) {
        if (value == null || !NAME.matcher(value).matches()) {
            throw new IllegalArgumentException(
                    field + " must have 1 to 40 letters, digits, spaces, dots, dashes or underscores");
        }
        return value;
    }
}
