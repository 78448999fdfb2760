package io.limiter.kit;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** What a token bucket means, as {@link NaiveLimiter} does: from the rules alone, in unbounded numbers. */
final class NaiveBucket {
    /** Credit in parts of a permit, from when on it grows, and how many parts a permit had then; null for a full bucket. */
    private @Nullable BigInteger credit;

    private long from;
    private BigInteger parts = BigInteger.ONE;

    /** The limit that was last asked about: a search asks a hundred times about one. */
    private @Nullable Limit known;

    private BigInteger knownParts = BigInteger.ONE;
    private BigInteger knownRate = BigInteger.ONE;

    /**
     * The answer. What is held is beside the bucket: a call needs it on top of its own permits.
     *
     * @param held permits that are held
     * @param last when the last of them is no longer held
     */
    LimitOutcome look(Charge charge, Limit limit, long held, long last, long now) {
        NaiveBucket cut = copy();
        cut.settle(limit, now);
        long n = charge.permits();
        long burst = limit.burst();
        BigInteger level = cut.level(limit, now);
        boolean allowed = n == 0 || n <= burst && level.compareTo(permits(limit, n + held)) >= 0;
        long remaining = Math.max(0, floor(level, parts(limit)).longValueExact() - held);
        return LimitOutcome.of(
                charge,
                limit,
                allowed,
                remaining,
                allowed ? 0 : n > burst ? -1 : cut.time(limit, n, held, last, now),
                cut.time(limit, Math.min(remaining + 1, burst), held, last, now),
                cut.time(limit, burst, held, last, now),
                cut.from(limit, now));
    }

    /** The time until a call passes; where only an end can help, after the last one. */
    private long time(Limit limit, long permits, long held, long last, long now) {
        BigInteger wanted = permits(limit, permits + held);
        if (permits + held <= limit.burst()) {
            return time(limit, wanted, now);
        }
        // Nothing refills before the time to which the clock was set back.
        long then = Math.max(last, from(limit, now));
        BigInteger lacks = wanted.subtract(level(limit, then)).max(BigInteger.ZERO);
        return then - now + ceil(lacks, rate(limit));
    }

    /** The permits that are used, and those that are held. */
    long used(Limit limit, long held, long now) {
        return limit.burst() + held - floor(level(limit, now), parts(limit)).longValueExact();
    }

    void take(Limit limit, long n, long now) {
        put(limit, level(limit, now).subtract(permits(limit, n)), now);
    }

    /** A clock that stepped back costs a period at most. */
    void settle(Limit limit, long now) {
        if (isCut(limit, now)) {
            put(limit, level(limit, now), now);
        }
    }

    boolean isCut(Limit limit, long now) {
        return credit != null && from > now + limit.periodMicros();
    }

    boolean refund(Limit limit, long n, long stamp, long now) {
        BigInteger level = level(limit, now);
        long elapsed = Math.max(0, now - stamp);
        BigInteger back = permits(limit, n).subtract(BigInteger.valueOf(elapsed).multiply(rate(limit)));
        if (n > limit.burst() || level.equals(full(limit)) || back.signum() <= 0) {
            return false;
        }
        put(limit, level.add(back).min(full(limit)), now);
        return true;
    }

    NaiveBucket copy() {
        NaiveBucket copy = new NaiveBucket();
        copy.credit = credit;
        copy.from = from;
        copy.parts = parts;
        return copy;
    }

    private void put(Limit limit, BigInteger level, long now) {
        from = from(limit, now);
        credit = level.equals(full(limit)) ? null : level;
        parts = parts(limit);
    }

    /** From when on a bucket refills: now, or where the clock was before it stepped back. A full one is as a new one. */
    private long from(Limit limit, long now) {
        return level(limit, now).equals(full(limit)) ? now : Math.max(now, start(limit, now));
    }

    private long start(Limit limit, long now) {
        return Math.min(from, now + limit.periodMicros());
    }

    private BigInteger level(Limit limit, long now) {
        if (credit == null) {
            return full(limit);
        }
        BigInteger elapsed = BigInteger.valueOf(Math.max(0, now - start(limit, now)));
        return convert(limit, credit).add(elapsed.multiply(rate(limit))).min(full(limit));
    }

    /** What was kept, in parts of the present limit: as many permits, and a little less than the rest of one. */
    private BigInteger convert(Limit limit, BigInteger credit) {
        BigInteger present = parts(limit);
        BigInteger converted = credit;
        if (!parts.equals(present)) {
            BigInteger whole = floor(credit, parts);
            double rest = credit.subtract(whole.multiply(parts)).doubleValue();
            long part = (long) Math.floor(rest / parts.doubleValue() * present.doubleValue()) - 1;
            converted = whole.multiply(present).add(BigInteger.valueOf(Math.max(0, part)));
        }
        return converted.min(full(limit)).max(full(limit).negate());
    }

    private BigInteger full(Limit limit) {
        return permits(limit, limit.burst());
    }

    /** Of how many parts a permit consists: the period over its common divisor with the permits. */
    private BigInteger parts(Limit limit) {
        know(limit);
        return knownParts;
    }

    /** How many parts a microsecond brings. */
    private BigInteger rate(Limit limit) {
        know(limit);
        return knownRate;
    }

    private void know(Limit limit) {
        if (!limit.equals(known)) {
            BigInteger period = BigInteger.valueOf(limit.periodMicros());
            BigInteger permits = BigInteger.valueOf(limit.permits());
            knownParts = period.divide(period.gcd(permits));
            knownRate = knownParts.multiply(permits).divide(period);
            known = limit;
        }
    }

    private BigInteger permits(Limit limit, long n) {
        return BigInteger.valueOf(n).multiply(parts(limit));
    }

    private static BigInteger floor(BigInteger dividend, BigInteger divisor) {
        BigInteger[] whole = dividend.divideAndRemainder(divisor);
        return whole[1].signum() < 0 ? whole[0].subtract(BigInteger.ONE) : whole[0];
    }

    private static long ceil(BigInteger dividend, BigInteger divisor) {
        return dividend.add(divisor).subtract(BigInteger.ONE).divide(divisor).longValueExact();
    }

    /** The first time, from now, at which there is so much credit: searched, not calculated. */
    private long time(Limit limit, BigInteger wanted, long now) {
        long low = now;
        long high = from(limit, now) + ceil(full(limit).subtract(level(limit, now)), rate(limit));
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (level(limit, middle).compareTo(wanted) >= 0) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low - now;
    }
}
