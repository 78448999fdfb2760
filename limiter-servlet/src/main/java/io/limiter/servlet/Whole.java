package io.limiter.servlet;

/** Numbers as response fields say them: whole seconds, and at most 15 digits (RFC 9651 section 3.3.1). */
final class Whole {
    private static final long MOST = 999_999_999_999_999L;
    private static final long MICROS_PER_SECOND = 1_000_000;

    private Whole() {}

    /** Rounded up: who comes back when this has passed must not be too early. */
    static long seconds(long micros) {
        return micros / MICROS_PER_SECOND + (micros % MICROS_PER_SECOND == 0 ? 0 : 1);
    }

    static long clamped(long number) {
        return Math.min(number, MOST);
    }
}
