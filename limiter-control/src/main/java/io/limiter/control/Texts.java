package io.limiter.control;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Texts of others, before they get into logs, terminals and records. */
final class Texts {
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\p{Cf}\\u2028\\u2029]+");
    private static final int LONGEST = 1_000;

    private Texts() {}

    /** One line of limited length, without what could move a cursor. */
    static String plain(@Nullable String text) {
        String whole = String.valueOf(text);
        String some = whole.length() > LONGEST ? whole.substring(0, LONGEST) + "..." : whole;
        return CONTROL.matcher(some).replaceAll(" ");
    }

    /** Throws an {@link IllegalArgumentException} if a text is not one line of limited length. */
    static void line(String what, String text, int most) {
        require(
                text.length() <= most && !CONTROL.matcher(text).find(),
                what + " is not one line of at most " + most + " characters without control characters: "
                        + plain(text));
    }

    /** Throws an {@link IllegalArgumentException} with RL-503 unless something has the right form. */
    static void require(boolean isRight, String wrong) {
        if (!isRight) {
            throw new IllegalArgumentException("RL-503 " + wrong);
        }
    }
}
