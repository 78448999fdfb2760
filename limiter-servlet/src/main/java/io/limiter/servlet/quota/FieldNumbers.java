package io.limiter.servlet.quota;

import io.limiter.Algorithm;
import io.limiter.Limit;

/** Numbers as response fields have them: whole seconds, and at most 15 digits (RFC 9651 section 3.3.1). */
public final class FieldNumbers {
    private static final long MOST = 999_999_999_999_999L;
    private static final long MICROS_PER_SECOND = 1_000_000;

    private FieldNumbers() {}

    /** Whole seconds, rounded up: a client that comes back after them must not be too early. Never above 13 digits. */
    public static long seconds(long micros) {
        return ceilingOf(micros, MICROS_PER_SECOND);
    }

    /** The number, or the largest one that a field can have. */
    static long clamped(long number) {
        return Math.min(number, MOST);
    }

    /**
     * The window {@code w} of a limit in the drafts: the seconds in which all of its quota comes back; 0 where no whole number
     * would be true.
     */
    static long windowSeconds(Limit limit) {
        if (limit.algorithm() != Algorithm.TOKEN_BUCKET) {
            // Rounded down it would promise too much (and 0 is no window), rounded up too little.
            return limit.periodMicros() % MICROS_PER_SECOND == 0 ? limit.periodMicros() / MICROS_PER_SECOND : 0;
        }
        if (limit.permits() == 0) {
            return 0;
        }
        // Of a bucket: the time in which all of it flows in, so that quota by window is its lasting rate. The limit
        // has made sure that the product is below 2^53.
        long divisor = limit.refillDivisor();
        long micros = ceilingOf(limit.burst() * (limit.periodMicros() / divisor), limit.permits() / divisor);
        return micros < MICROS_PER_SECOND ? 0 : seconds(micros);
    }

    private static long ceilingOf(long number, long divisor) {
        return number / divisor + (number % divisor == 0 ? 0 : 1);
    }
}
