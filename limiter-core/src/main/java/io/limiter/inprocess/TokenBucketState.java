package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.internal.LimitSpec;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * Permits refill continuously, up to a burst. Exact: credit is counted in parts of a permit. The twin of
 * token_bucket.lua.
 */
final class TokenBucketState extends State {
    /** The limit under which it was written, so that its parts and rate need not be computed again. */
    private @Nullable LimitSpec written;

    /** The parts of a permit under that limit. */
    private long parts = 1;

    /** Parts that refill in a microsecond. */
    private long rate = 1;

    private long credit;

    /** The time from which it refills. */
    private long from;

    /** When it is full again; from then on it equals an unused one. */
    private long fullAt;

    TokenBucketState(@Nullable PartitionKey key) {
        super(key);
    }

    @Override
    Verdict check(Charge charge, Limit asked, long permits, long now, boolean take) {
        LimitSpec spec = asked.spec();
        return Verdict.of(
                charge.permits() == 0 || (permits <= spec.burst() && level(spec, now) >= permits * partsOf(spec)));
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit asked, long permits, long now, boolean allowed, boolean granted, boolean take) {
        LimitSpec spec = asked.spec();
        long unit = partsOf(spec);
        long full = spec.burst() * unit;
        long level = level(spec, now);
        // A full bucket refills from now on, as a new one does.
        long start = level < full ? Math.max(from, now) : now;
        boolean pending = isPending(spec, now);
        long latest = now + spec.periodMicros();
        boolean changes = charge.permits() > 0 && (granted || (take && (pending || start > latest)));
        if (changes) {
            // From now on the current limit applies, and a clock that stepped back costs a period at most.
            level -= granted ? charge.permits() * unit : 0;
            start = Math.min(start, latest);
            pending = false;
        }
        long reset = wait(full, level, start, spec, now, pending);
        long remaining = unit == 1 ? level : level < unit ? 0 : level / unit;
        long next = wait(Math.min(full, (remaining + 1) * unit), level, start, spec, now, pending);
        // A method of its own: above 325 bytes of code this one is not inlined, and the charge is allocated.
        long retryAfter = allowed ? 0 : retryAfter(permits, unit, level, start, spec, now, pending);
        if (changes && take) {
            keep(spec, level, start, reset > 0 ? now + reset : 0);
        }
        return LimitOutcome.of(charge, asked, allowed, remaining, retryAfter, next, reset, start);
    }

    private long retryAfter(
            long permits, long unit, long level, long start, LimitSpec asked, long now, boolean pending) {
        return permits > asked.burst() ? LimitOutcome.NEVER : wait(permits * unit, level, start, asked, now, pending);
    }

    private void keep(LimitSpec asked, long level, long start, long until) {
        if (asked != written) {
            rate = rateOf(asked);
            parts = partsOf(asked);
            written = asked;
        }
        credit = level;
        from = start;
        fullAt = until;
    }

    @Override
    boolean giveBack(Charge charge, Limit asked, long stamp, long now) {
        LimitSpec spec = asked.spec();
        long unit = partsOf(spec);
        long full = spec.burst() * unit;
        long level = level(spec, now);
        // What has refilled since the call is available already. Unknown under a limit other than that of the call.
        long n = charge.permits();
        long elapsed = Math.max(0, now - stamp);
        if (n > spec.burst()
                || level == full
                || unit != parts
                || rateOf(spec) != rate
                || elapsed >= ceilDiv(n * parts, rate)) {
            return false;
        }
        // The burst may have been raised since: the state lives on as long as it would have.
        credit = Math.min(full, level + n * parts - elapsed * rate);
        from = Math.max(from, now);
        return true;
    }

    @Override
    void clear() {
        fullAt = 0;
    }

    /** The same, for another to change. */
    TokenBucketState copy() {
        TokenBucketState copy = new TokenBucketState(key);
        copy.written = written;
        copy.parts = parts;
        copy.rate = rate;
        copy.credit = credit;
        copy.from = from;
        copy.fullAt = fullAt;
        return copy;
    }

    /** Takes that many parts of a permit, which may be more than there is. From now on this limit applies. */
    void spend(LimitSpec asked, long spent, long now) {
        long level = level(asked, now);
        long full = asked.burst() * partsOf(asked);
        long start = level < full ? Math.min(Math.max(from, now), now + asked.periodMicros()) : now;
        long wait = wait(full, level - spent, start, asked, now, false);
        keep(asked, level - spent, start, wait > 0 ? now + wait : 0);
    }

    @Override
    long fullAtMicros() {
        return fullAt;
    }

    /** Whether it was written under this limit; nearly always the same object. */
    private boolean isInForce(LimitSpec asked) {
        return asked == written || asked.equals(written);
    }

    long partsOf(LimitSpec asked) {
        return isInForce(asked) ? parts : asked.periodMicros() / asked.refillDivisor();
    }

    long rateOf(LimitSpec asked) {
        return isInForce(asked) ? rate : asked.permits() / asked.refillDivisor();
    }

    /** The current credit. For the time before a changed limit was seen: the lesser of what both rates refilled. */
    long level(LimitSpec asked, long now) {
        long full = asked.burst() * partsOf(asked);
        if (now >= fullAt) {
            return full;
        }
        long elapsed = Math.max(0, now - from);
        if (isInForce(asked)) {
            return Math.min(full, credit + elapsed * rate);
        }
        boolean isSameRate = partsOf(asked) == parts && rateOf(asked) == rate;
        long most = isSameRate ? full : converted(credit + elapsed * rate, asked);
        return elapsed < timeToFill(asked) ? Math.min(most, converted(credit, asked) + elapsed * rateOf(asked)) : most;
    }

    /** Whether a limit other than that of the call is in force until a call writes the latter. */
    boolean isPending(LimitSpec asked, long now) {
        return !isInForce(asked)
                && now < fullAt
                && (partsOf(asked) != parts
                        || rateOf(asked) != rate
                        // The state would be full, and dropped, before a raised burst is.
                        || fullAt < from + timeToFill(asked));
    }

    private long timeToFill(LimitSpec asked) {
        return ceilDiv(asked.burst() * partsOf(asked) - converted(credit, asked), rateOf(asked));
    }

    /** Stored credit, converted to parts of the limit of the call, rounded down; at most a full bucket, and no larger debt. */
    private long converted(long stored, LimitSpec asked) {
        long unit = partsOf(asked);
        long full = asked.burst() * unit;
        // A debt is a negative credit.
        return unit == parts
                ? Math.max(-full, Math.min(stored, full))
                : ceilDiv(BigInteger.valueOf(stored).multiply(BigInteger.valueOf(-unit)), parts)
                        .negate()
                        .min(BigInteger.valueOf(full))
                        .max(BigInteger.valueOf(-full))
                        .longValue();
    }

    /**
     * How long until there is that much credit. While another limit is in force: until both rates have refilled it, or
     * the state is dropped as full.
     */
    long wait(long wanted, long level, long start, LimitSpec asked, long now, boolean pending) {
        if (wanted <= level) {
            return 0;
        }
        if (!pending) {
            return start - now + ceilDiv(wanted - level, rateOf(asked));
        }
        long byNew = ceilDiv(wanted - converted(credit, asked), rateOf(asked));
        BigInteger inStoredParts =
                ceilDiv(BigInteger.valueOf(wanted).multiply(BigInteger.valueOf(parts)), partsOf(asked));
        BigInteger byStored = ceilDiv(inStoredParts.subtract(BigInteger.valueOf(credit)), rate);
        long both = byStored.max(BigInteger.valueOf(byNew))
                .min(BigInteger.valueOf(fullAt - from))
                .longValue();
        return from + both - now;
    }

    /** The same from now on, as the state is. */
    long waitFor(long wanted, LimitSpec asked, long now) {
        long level = level(asked, now);
        long start = level < asked.burst() * partsOf(asked) ? Math.max(from, now) : now;
        return wait(wanted, level, start, asked, now, isPending(asked, now));
    }

    private static BigInteger ceilDiv(BigInteger dividend, long divisor) {
        BigInteger[] quotient = dividend.divideAndRemainder(BigInteger.valueOf(divisor));
        return quotient[1].signum() > 0 ? quotient[0].add(BigInteger.ONE) : quotient[0];
    }
}
