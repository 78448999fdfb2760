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

    /**
     * The answer. What is held is outside of the bucket, which has no more room than the rest.
     *
     * @param held permits that are held
     * @param last when the last of them is no longer held
     */
    LimitOutcome look(Charge charge, Limit limit, long held, long last, long now) {
        long n = charge.permits();
        BigInteger free = credit(limit, now).subtract(permits(limit, held));
        BigInteger permit = permits(limit, 1);
        boolean allowed = n == 0 || n + held <= limit.spec().burst() && free.compareTo(permits(limit, n)) >= 0;
        long remaining = free.signum() < 0 ? 0 : free.divide(permit).longValueExact();
        long burst = limit.spec().burst();
        return LimitOutcome.of(
                charge,
                limit,
                allowed,
                remaining,
                allowed ? 0 : n > burst ? -1 : time(limit, n, held, last, now),
                time(limit, Math.min(remaining + 1, burst), held, last, now),
                time(limit, burst, held, last, now),
                from(limit, now));
    }

    /** The time until a call passes, if every hold is settled as it was reserved when it ends, or before. */
    private long time(Limit limit, long permits, long held, long last, long now) {
        if (permits + held <= limit.spec().burst()) {
            return time(limit, permits(limit, permits + held), now);
        }
        // Until the last end there may be no room for it. Then what was held is used.
        BigInteger lacks = permits(limit, permits + held).subtract(credit(limit, last));
        return last - now + (lacks.signum() <= 0 ? 0 : ceil(lacks, rate(limit)));
    }

    long fullAt() {
        return fullAt;
    }

    /** The permits that are used, and those that are held. */
    long used(Limit limit, long held, long now) {
        BigInteger[] whole = credit(limit, now).divideAndRemainder(permits(limit, 1));
        return limit.spec().burst() + held - whole[0].longValueExact() + (whole[1].signum() < 0 ? 1 : 0);
    }

    /**
     * Takes what a settled hold has cost, as if at its beginning: less what would have refilled since. The idle time that it
     * used.
     *
     * @param idle for how long it would have refilled
     */
    long settle(Limit limit, long cost, long idle, long now) {
        BigInteger all = permits(limit, cost);
        BigInteger back = refill(limit, idle).min(all);
        put(limit, credit(limit, now).subtract(all).add(back), now);
        return ceil(back, rate(limit));
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
        BigInteger[] whole = credit.multiply(parts(limit)).divideAndRemainder(parts);
        BigInteger down = whole[1].signum() < 0 ? whole[0].subtract(BigInteger.ONE) : whole[0];
        // A debt is no larger than the bucket, also where that has become smaller.
        return down.max(full(limit).negate());
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
