package io.limiter.spring.webflux;

import io.limiter.Algorithm;
import io.limiter.Limit;
import java.math.BigInteger;

/**
 * A limit in the words of the drafts: a quota {@code q} in a window {@code w}.
 *
 * @param quota the most that a client can have at once, at most 15 digits (RFC 9651 section 3.3.1)
 * @param windowSeconds whole seconds in which all of it comes back; 0 where no number of whole seconds would be true
 */
record QuotaWindow(long quota, long windowSeconds) {
    private static final long MOST = 999_999_999_999_999L;
    private static final long MICROS_PER_SECOND = 1_000_000;

    static QuotaWindow of(Limit limit) {
        return new QuotaWindow(clamped(limit.capacity()), windowSeconds(limit));
    }

    /** As the policy field has them. */
    String parameters() {
        return ";q=" + quota + (windowSeconds == 0 ? "" : ";w=" + windowSeconds);
    }

    private static long windowSeconds(Limit limit) {
        if (limit.algorithm() != Algorithm.TOKEN_BUCKET) {
            return limit.periodMicros() % MICROS_PER_SECOND == 0 ? limit.periodMicros() / MICROS_PER_SECOND : 0;
        }
        if (limit.permits() == 0) {
            return 0;
        }
        // The time in which a bucket fills, so that quota by window is its lasting rate.
        BigInteger[] micros = BigInteger.valueOf(limit.burst())
                .multiply(BigInteger.valueOf(limit.periodMicros()))
                .divideAndRemainder(BigInteger.valueOf(limit.permits()));
        long whole = micros[0].add(BigInteger.valueOf(micros[1].signum())).longValueExact();
        return whole < MICROS_PER_SECOND ? 0 : seconds(whole);
    }

    /** Whole seconds, rounded up: a client that waits so long must not come too early. */
    static long seconds(long micros) {
        return clamped(micros / MICROS_PER_SECOND + (micros % MICROS_PER_SECOND == 0 ? 0 : 1));
    }

    static long clamped(long number) {
        return Math.min(number, MOST);
    }
}
