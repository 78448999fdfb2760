package io.limiter.example.site;

import org.jspecify.annotations.Nullable;

/** A value of a request as it is shown in a message: shortened, so that no response has a megabyte. */
public final class Shown {
    private static final int LONGEST = 40;

    private Shown() {}

    /** The value in quotes, or a note that it is missing. */
    public static String of(@Nullable Object value) {
        if (value == null) {
            return "missing";
        }
        String text = String.valueOf(value);
        return "'" + (text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "...") + "'";
    }
}
