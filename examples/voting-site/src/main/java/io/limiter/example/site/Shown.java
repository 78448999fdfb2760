package io.limiter.example.site;

import org.jspecify.annotations.Nullable;

/** How a value that somebody sent stands in a message: short, so that nobody gets a megabyte back. */
public final class Shown {
    private static final int LONGEST = 40;

    private Shown() {}

    /** The value in quotes, or that it is missing. */
    public static String of(@Nullable Object value) {
        if (value == null) {
            return "missing";
        }
        String text = String.valueOf(value);
        return "'" + (text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "...") + "'";
    }
}
