package io.limiter.kit;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/** What a token bucket means, as {@link NaiveLimiter} does: from the rules alone, in unbounded numbers. */
final class NaiveBucket {
    /** Credit in parts of a permit, from when on it grows, how fast, and when it is full. */
    private BigInteger credit = BigInteger.ZERO;

    private long from;
    private BigInteger parts = BigInteger.ONE;
    private BigInteger rate = BigInteger.ONE;
    private long fullAt;

    /** The limit that was last asked about: a search asks a hundred times about one. */
    private @Nullable Limit known;

    private BigInteger knownParts = BigInteger.ONE;
    private BigInteger knownRate = BigInteger.ONE;

    LimitOutcome look(Charge charge, Limit limit, long now) {
        long n = charge.permits();
        BigInteger credit = credit(limit, now);
        BigInteger wanted = permits(limit, n);
        BigInteger permit = permits(limit, 1);
        BigInteger full = full(limit);
        boolean allowed = n == 0 || n <= limit.spec().burst() && credit.compareTo(wanted) >= 0;
        BigInteger more = credit.divide(permit).add(BigInteger.ONE).multiply(permit);
        return new LimitOutcome(
                charge,
                limit,
                allowed,
                credit.divide(permit).longValueExact(),
                allowed ? 0 : n > limit.spec().burst() ? -1 : time(limit, wanted, now),
                time(limit, more.min(full), now),
                time(limit, full, now),
                from(limit, now));
    }

    void take(Limit limit, long n, long now) {
        put(limit, credit(limit, now).subtract(permits(limit, n)), now);
    }

    /** From now on the present limit applies, and a clock that stepped back costs a period at most. */
    void settle(Limit limit, long now) {
        boolean changed = !isOf(limit) || fullAt < from + ceil(missing(limit), rate(limit));
        if (fullAt > now && (changed || from(limit, now) > now + limit.spec().periodMicros())) {
            put(limit, credit(limit, now), now);
        }
    }

    boolean refund(Limit limit, long n, long stamp, long now) {
        BigInteger full = full(limit);
        BigInteger credit = credit(limit, now);
        BigInteger gain = permits(limit, n).subtract(refill(limit, Math.max(0, now - stamp)));
        if (n > limit.spec().burst() || !isOf(limit) || gain.signum() <= 0 || credit.equals(full)) {
            return false;
        }
        from = from(limit, now);
        this.credit = credit.add(gain).min(full);
        return true;
    }

    NaiveBucket copy() {
        NaiveBucket copy = new NaiveBucket();
        copy.credit = credit;
        copy.from = from;
        copy.parts = parts;
        copy.rate = rate;
        copy.fullAt = fullAt;
        return copy;
    }

    private void put(Limit limit, BigInteger credit, long now) {
        from = Math.min(from(limit, now), now + limit.spec().periodMicros());
        this.credit = credit;
        parts = parts(limit);
        rate = rate(limit);
        BigInteger missing = full(limit).subtract(credit);
        fullAt = missing.signum() == 0 ? 0 : from + ceil(missing, rate);
    }

    /** From when on a bucket refills: now, or where the clock was before it stepped back. A full one is as a new one. */
    private long from(Limit limit, long now) {
        return credit(limit, now).equals(full(limit)) ? now : Math.max(now, from);
    }

    private boolean isOf(Limit limit) {
        return parts.equals(parts(limit)) && rate.equals(rate(limit));
    }

    private BigInteger credit(Limit limit, long now) {
        if (fullAt <= now) {
            return full(limit);
        }
        BigInteger elapsed = BigInteger.valueOf(Math.max(0, now - from));
        BigInteger byNew = stored(limit).add(elapsed.multiply(rate(limit)));
        BigInteger byOld = convert(limit, credit.add(elapsed.multiply(rate)));
        return (isOf(limit) ? byNew : byNew.min(byOld)).min(full(limit));
    }

    /** What was kept, in parts of the present limit. */
    private BigInteger stored(Limit limit) {
        return convert(limit, credit);
    }

    private BigInteger convert(Limit limit, BigInteger credit) {
        return credit.multiply(parts(limit)).divide(parts);
    }

    /** What a bucket that was kept lacked, if nothing had come since. */
    private BigInteger missing(Limit limit) {
        return full(limit).subtract(stored(limit).min(full(limit)));
    }

    private BigInteger full(Limit limit) {
        return permits(limit, limit.spec().burst());
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
            BigInteger period = BigInteger.valueOf(limit.spec().periodMicros());
            BigInteger permits = BigInteger.valueOf(limit.permits());
            knownParts = period.divide(period.gcd(permits));
            knownRate = knownParts.multiply(permits).divide(period);
            known = limit;
        }
    }

    private BigInteger permits(Limit limit, long n) {
        return BigInteger.valueOf(n).multiply(parts(limit));
    }

    private BigInteger refill(Limit limit, long micros) {
        return BigInteger.valueOf(micros).multiply(rate(limit));
    }

    private static long ceil(BigInteger dividend, BigInteger divisor) {
        return dividend.add(divisor).subtract(BigInteger.ONE).divide(divisor).longValueExact();
    }

    /** The first time, from now, at which there is so much credit: searched, not calculated. */
    private long time(Limit limit, BigInteger wanted, long now) {
        long low = now;
        long high = Math.max(now, fullAt);
        while (low < high) {
            long middle = (low + high) >>> 1;
            if (credit(limit, middle).compareTo(wanted) >= 0) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low - now;
    }
}
