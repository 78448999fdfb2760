package io.limiter.internal.config;

import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A header or a query parameter that a request must have. Immutable.
 *
 * @param name of the header or parameter
 * @param value that it must have; null for any
 */
public record RequestCondition(String name, @Nullable String value) {
    /** Nothing, {@code =x}, {@code ^x}, quotes, {@code a|b}, {@code a*} (but not <code>*&#47;*</code>), {@code x&y=z}: no request would have it. */
    private static final Pattern UNFIT =
            Pattern.compile("|[=^\"'].*|.*\\|.*|.*\\.\\*.*|(?!\\*/\\*$).*\\*|.*&[^&=]+=.*");

    /**
     * Checks the condition.
     *
     * @throws IllegalArgumentException if the name is invalid
     */
    public RequestCondition {
        Problems.refuseIf(
                !ConfigKey.isName(name),
                "'" + name + "' is not the name of a header or parameter; write Name, or Name=value");
        Problems.refuseIf(
                value != null && UNFIT.matcher(value).matches(),
                "'" + name + "=" + value + "' is not compared as a pattern or list; write " + name
                        + " for any value, or " + name + "=value for that one");
    }

    /** The condition of a text: {@code X-Kind} for any value, {@code X-Kind=batch} for that one. */
    public static RequestCondition parse(String text) {
        int equals = text.indexOf('=');
        return equals < 0
                ? new RequestCondition(text, null)
                : new RequestCondition(
                        text.substring(0, equals).strip(),
                        text.substring(equals + 1).strip());
    }

    /** As configuration text writes it. */
    @Override
    public String toString() {
        return value == null ? name : name + "=" + value;
    }
}
