package io.limiter.servlet.quota;

/** Numbers in the form of response fields: whole seconds, and at most 15 digits (RFC 9651 section 3.3.1). */
public final class FieldNumbers {
    private static final long MOST = 999_999_999_999_999L;
    private static final long MICROS_PER_SECOND = 1_000_000;

    private FieldNumbers() {}

    /** Whole seconds, rounded up: a client that tries again after them must not be too early. Never above 13 digits. */
    public static long seconds(long micros) {
        return micros / MICROS_PER_SECOND + (micros % MICROS_PER_SECOND == 0 ? 0 : 1);
    }

    /** The number, or the largest one that a field can have. */
    static long clamped(long number) {
        return Math.min(number, MOST);
    }
}
