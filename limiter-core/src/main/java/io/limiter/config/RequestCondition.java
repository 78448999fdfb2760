package io.limiter.config;

import org.jspecify.annotations.Nullable;

/**
 * A header or a query parameter that a request must have. Immutable.
 *
 * @param name of the header or parameter
 * @param value that it must have; null for any
 */
public record RequestCondition(String name, @Nullable String value) {
    /**
     * Checks the condition.
     *
     * @throws IllegalArgumentException if the name is invalid
     */
    public RequestCondition {
        Problems.refuseIf(
                !HttpSettings.isToken(name),
                "'" + name + "' is not the name of a header or parameter; write Name, or Name=value");
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
