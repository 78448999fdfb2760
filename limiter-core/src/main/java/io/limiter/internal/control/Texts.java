package io.limiter.internal.control;

import java.util.regex.Pattern;

/** Checks texts of others, before they get into logs, terminals and records. */
final class Texts {
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\p{Cf}\\u2028\\u2029]");
    private static final int SHOWN = 200;

    private Texts() {}

    /** One line of limited length. */
    static String shown(String text) {
        String whole = text.length() > SHOWN ? text.substring(0, SHOWN) + "..." : text;
        return CONTROL.matcher(whole).replaceAll("?");
    }

    /**
     * A text of one line.
     *
     * @throws IllegalArgumentException if it is too long, or has control characters
     */
    static String line(String what, String text, int most) {
        if (text.length() > most || CONTROL.matcher(text).find()) {
            throw new IllegalArgumentException("RL-503 " + what + " is not one line of at most " + most
                    + " characters without control characters: " + shown(text));
        }
        return text;
    }
}
