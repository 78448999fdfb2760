package io.limiter.control;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Texts of this jar; and those of others, before they get into logs, terminals and records. */
final class Texts {
    private static final Pattern CONTROL = Pattern.compile("[\\p{Cc}\\p{Cf}\\u2028\\u2029]+");
    private static final int LONGEST = 1_000;

    private Texts() {}

    /** The text of a file beside this class. */
    static String resource(String name) {
        try (InputStream text = Texts.class.getResourceAsStream(name)) {
            return new String(Objects.requireNonNull(text, name).readAllBytes(), UTF_8);
        } catch (IOException unreadable) {
            throw new IllegalStateException(unreadable);
        }
    }

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
