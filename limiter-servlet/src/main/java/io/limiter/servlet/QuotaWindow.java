package io.limiter.servlet;

import io.limiter.Algorithm;
import io.limiter.Limit;
import java.math.BigInteger;

/**
 * A limit in the words of the drafts: a quota {@code q} in a window {@code w}.
 *
 * @param quota the most that a client can have at once, at most 15 digits
 * @param windowSeconds whole seconds in which all of it comes back; 0 where no number of whole seconds would be true
 */
record QuotaWindow(long quota, long windowSeconds) {
    private static final long MICROS_PER_SECOND = 1_000_000;

    static QuotaWindow of(Limit limit) {
        return new QuotaWindow(Whole.clamped(limit.capacity()), windowSeconds(limit));
    }

    private static long windowSeconds(Limit limit) {
        if (limit.algorithm() == Algorithm.TOKEN_BUCKET) {
            return limit.permits() == 0 ? 0 : secondsToFill(limit);
        }
        // Rounded down it would promise too much (and 0 is no window), rounded up too little.
        return limit.periodMicros() % MICROS_PER_SECOND == 0 ? limit.periodMicros() / MICROS_PER_SECOND : 0;
    }

    /** Of a bucket: the time in which all of it flows in, so that quota by window is its lasting rate. */
    private static long secondsToFill(Limit limit) {
        BigInteger[] micros = BigInteger.valueOf(limit.burst())
                .multiply(BigInteger.valueOf(limit.periodMicros()))
                .divideAndRemainder(BigInteger.valueOf(limit.permits()));
        // A bucket's product is below 2^53 when the fraction is reduced, and so is what it is divided by.
        long whole = micros[0].add(BigInteger.valueOf(micros[1].signum())).longValueExact();
        return whole < MICROS_PER_SECOND ? 0 : Whole.clamped(Whole.seconds(whole));
    }
}
