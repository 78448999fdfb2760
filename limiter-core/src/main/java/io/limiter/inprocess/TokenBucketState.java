package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.TokenBucket;
import org.jspecify.annotations.Nullable;

/**
 * Permits refill continuously, up to a burst. Exact: credit is counted in parts of a permit. The twin of
 * token_bucket.lua.
 */
final class TokenBucketState extends State {
    /** In parts of a permit: more than any wait in an answer needs, and a bucket's credit can be added without overflow. */
    private static final long MOST = 1L << 61;

    /** The limit under which it was written, so that its parts and rate need not be computed again; null for a full bucket. */
    private @Nullable TokenBucket written;

    /** The parts of a permit under that limit. */
    private long parts = 1;

    /** Parts that refill in a microsecond. */
    private long rate = 1;

    private long credit;

    /** The time from which it refills. */
    private long from;

    /** When it is full again under that limit; from then on it equals an unused one, and may be dropped. */
    private long fullAt;

    TokenBucketState(@Nullable PartitionKey key) {
        super(key);
    }

    @Override
    Verdict check(Charge charge, Limit asked, long permits, long now, boolean take) {
        if (take && charge.permits() > 0) {
            tidy(now);
        }
        TokenBucket spec = (TokenBucket) asked;
        long unit = partsOf(spec);
        return Verdict.of(charge.permits() == 0
                || permits <= spec.burst()
                        && (reserved == null
                                ? level(spec, now) >= permits * unit
                                // What is held may be more than a bucket that was made smaller.
                                : Math.floorDiv(level(spec, now), unit) >= permits + reserved.held()));
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit asked, long permits, long now, boolean allowed, boolean granted, boolean take) {
        TokenBucket spec = (TokenBucket) asked;
        long unit = partsOf(spec);
        long level = level(spec, now);
        long start = start(spec, level, now);
        if (charge.permits() > 0 && (granted || from > now + spec.periodMicros())) {
            level -= granted ? charge.permits() * unit : 0;
            if (take) {
                keep(spec, level, start);
            }
        }
        long held = reserved == null ? 0 : reserved.held();
        long whole = unit == 1 ? level : level < unit ? 0 : level / unit;
        long remaining = Math.max(0, whole - held);
        // A method of its own: above 325 bytes of code this one is not inlined, and the charge is allocated.
        long retryAfter = allowed ? 0 : retryAfter(permits, held, level, start, spec, now);
        long next = timeOf(Math.min(spec.burst(), remaining + 1), held, level, start, spec, now);
        long reset = timeOf(spec.burst(), held, level, start, spec, now);
        return LimitOutcome.of(charge, asked, allowed, remaining, retryAfter, next, reset, start);
    }

    private long retryAfter(long permits, long held, long level, long start, TokenBucket asked, long now) {
        return permits > asked.burst() ? LimitOutcome.NEVER : timeOf(permits, held, level, start, asked, now);
    }

    /** How long until a call of so many permits passes. */
    private long timeOf(long permits, long held, long level, long start, TokenBucket asked, long now) {
        return held > 0
                ? timeBesideHeld(permits + held, level, start, asked, now)
                : wait(permits * partsOf(asked), level, start, asked, now);
    }

    /**
     * The same if nobody else calls and every hold is settled as it was reserved: where only an end can help, until the last one.
     *
     * @param wanted permits, with those that are held
     */
    private long timeBesideHeld(long wanted, long level, long start, TokenBucket asked, long now) {
        long unit = partsOf(asked);
        if (wanted <= asked.burst() || reserved == null) {
            return wait(wanted * unit, level, start, asked, now);
        }
        long last = Math.max(reserved.lastEnd(now), start);
        long then = refilled(asked, level, last - start);
        return last - now + ceilDiv(Math.max(0, Math.min(wanted, MOST / unit) * unit - then), rateOf(asked));
    }

    private void keep(TokenBucket asked, long level, long start) {
        if (asked != written) {
            rate = rateOf(asked);
            parts = partsOf(asked);
            written = asked;
        }
        credit = level;
        from = start;
        fullAt = start + ceilDiv(asked.burst() * parts - level, rate);
        if (level == asked.burst() * parts) {
            forgetCredit();
        }
    }

    /** It is full, of any limit. */
    private void forgetCredit() {
        written = null;
        from = 0;
        fullAt = 0;
    }

    @Override
    boolean giveBack(Charge charge, Limit asked, long stamp, long now) {
        tidy(now);
        TokenBucket spec = (TokenBucket) asked;
        long unit = partsOf(spec);
        long full = spec.burst() * unit;
        long level = level(spec, now);
        // What has refilled since the call is available already.
        long n = charge.permits();
        long elapsed = Math.max(0, now - stamp);
        boolean given = n <= spec.burst() && level < full && elapsed < ceilDiv(n * unit, rateOf(spec));
        if (given || from > now + spec.periodMicros()) {
            long back = given ? n * unit - elapsed * rateOf(spec) : 0;
            keep(spec, Math.min(full, level + back), start(spec, level, now));
        }
        return given;
    }

    @Override
    long force(Limit asked, long permits, boolean freed, long now) {
        TokenBucket spec = (TokenBucket) asked;
        long level = level(spec, now);
        long room = Math.max(0, spec.burst() + Math.floorDiv(level, partsOf(spec)));
        long charged = Math.min(permits, room);
        if (charged > 0 || from > now + spec.periodMicros()) {
            keep(spec, level - charged * partsOf(spec), start(spec, level, now));
        }
        return charged;
    }

    @Override
    void clear() {
        forgetCredit();
        clearHolds();
    }

    @Override
    long fullAtMicros() {
        return reserved == null ? fullAt : Math.max(fullAt, reserved.lastKept());
    }

    /** Whether it was written under this limit; nearly always the same object. */
    private boolean isInForce(TokenBucket asked) {
        return asked == written || asked.equals(written);
    }

    private long partsOf(TokenBucket asked) {
        return isInForce(asked) ? parts : asked.periodMicros() / asked.refillDivisor();
    }

    private long rateOf(TokenBucket asked) {
        return isInForce(asked) ? rate : asked.permits() / asked.refillDivisor();
    }

    /** The current credit. */
    private long level(TokenBucket asked, long now) {
        if (isInForce(asked)) {
            long full = asked.burst() * parts;
            return now >= fullAt ? full : Math.min(full, credit + Math.max(0, now - from) * rate);
        }
        return written == null
                ? asked.burst() * partsOf(asked)
                : refilled(asked, converted(asked), now - Math.min(from, now + asked.periodMicros()));
    }

    /** From when on it refills: a full one from now on, as a new one does; and a clock that stepped back costs a period at most. */
    private long start(TokenBucket asked, long level, long now) {
        return level < asked.burst() * partsOf(asked) ? Math.max(now, Math.min(from, now + asked.periodMicros())) : now;
    }

    /** A credit after that time. */
    private long refilled(TokenBucket asked, long level, long micros) {
        long full = asked.burst() * partsOf(asked);
        long rate = rateOf(asked);
        return micros <= 0 ? level : micros > (full - level) / rate ? full : level + micros * rate;
    }

    /** The stored credit in parts of another limit: the same permits, at most a full bucket, and no larger debt. */
    private long converted(TokenBucket asked) {
        long unit = partsOf(asked);
        long burst = asked.burst();
        long whole = Math.floorDiv(credit, parts);
        long rest = credit - whole * parts;
        if (whole >= burst || whole < -burst) {
            return whole < 0 ? -burst * unit : burst * unit;
        }
        // Rounded down, by more than the division can err: the twin has no other numbers.
        long part = unit == parts ? rest : Math.max(0, (long) Math.floor((double) rest / parts * unit) - 1);
        return Math.min(burst * unit, whole * unit + part);
    }

    /** How long until there is that much credit. */
    private long wait(long wanted, long level, long start, TokenBucket asked, long now) {
        return wanted <= level ? 0 : start - now + ceilDiv(wanted - level, rateOf(asked));
    }
}
