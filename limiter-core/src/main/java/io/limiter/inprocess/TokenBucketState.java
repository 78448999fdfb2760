package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import org.jspecify.annotations.Nullable;

/**
 * Permits refill continuously, up to a burst. Exact: credit is counted in parts of a permit. The twin of
 * token_bucket.lua.
 */
final class TokenBucketState extends State {
    /** In parts of a permit: more than any wait in an answer needs, and a bucket's credit can be added without overflow. */
    private static final long MOST = 1L << 61;

    /** The limit under which it was written, so that its parts and rate need not be computed again; null for a full bucket. */
    private @Nullable Limit written;

    /** The parts of a permit under that limit. */
    private long parts = 1;

    /** Parts that refill in a microsecond. */
    private long rate = 1;

    private long credit;

    /** The time from which it refills. */
    private long from;

    /** When it is full again under that limit; from then on it equals an unused one, and may be dropped. */
    private long fullAt;

    TokenBucketState(PartitionKey key) {
        super(key);
    }

    @Override
    Verdict check(Charge charge, Limit limit, long permits, long now, boolean take) {
        long unit = partsOf(limit);
        return Verdict.of(charge.permits() == 0
                || permits <= limit.burst()
                        && (reserved == null
                                ? level(limit, now) >= permits * unit
                                // What is held may be more than a bucket that was made smaller.
                                : Math.floorDiv(level(limit, now), unit) >= permits + reserved.held()));
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take) {
        long unit = partsOf(limit);
        long level = level(limit, now);
        long start = start(limit, level, now);
        if (charge.permits() > 0 && (granted || from > now + limit.periodMicros())) {
            level -= granted ? charge.permits() * unit : 0;
            if (take) {
                keep(limit, level, start);
            }
        }
        long held = reserved == null ? 0 : reserved.held();
        long whole = unit == 1 ? level : level < unit ? 0 : level / unit;
        long remaining = Math.max(0, whole - held);
        // A method of its own: above 325 bytes of code this one is not inlined, and the charge is allocated.
        long retryAfter = allowed ? 0 : retryAfter(permits, held, level, start, limit, now);
        long next = timeOf(Math.min(limit.burst(), remaining + 1), held, level, start, limit, now);
        long reset = timeOf(limit.burst(), held, level, start, limit, now);
        return LimitOutcome.of(charge, limit, allowed, remaining, retryAfter, next, reset, start);
    }

    private long retryAfter(long permits, long held, long level, long start, Limit limit, long now) {
        return permits > limit.burst() ? LimitOutcome.NEVER : timeOf(permits, held, level, start, limit, now);
    }

    /** How long until a call of so many permits is allowed. */
    private long timeOf(long permits, long held, long level, long start, Limit limit, long now) {
        return held > 0
                ? timeBesideHeld(permits + held, level, start, limit, now)
                : wait(permits * partsOf(limit), level, start, limit, now);
    }

    /**
     * The same if nobody else calls and every hold is settled as it was reserved: where only an end can help, until the last one.
     *
     * @param wanted permits, with those that are held
     */
    private long timeBesideHeld(long wanted, long level, long start, Limit limit, long now) {
        long unit = partsOf(limit);
        if (wanted <= limit.burst() || reserved == null) {
            return wait(wanted * unit, level, start, limit, now);
        }
        long last = Math.max(reserved.lastEnd(now), start);
        long then = refilled(limit, level, last - start);
        return last - now + ceilDiv(Math.max(0, Math.min(wanted, MOST / unit) * unit - then), rateOf(limit));
    }

    private void keep(Limit limit, long level, long start) {
        if (limit != written) {
            rate = rateOf(limit);
            parts = partsOf(limit);
            written = limit;
        }
        credit = level;
        from = start;
        fullAt = start + ceilDiv(limit.burst() * parts - level, rate);
        if (level == limit.burst() * parts) {
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
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        tidy(now);
        long unit = partsOf(limit);
        long full = limit.burst() * unit;
        long level = level(limit, now);
        // What has refilled since the call is available already.
        long n = charge.permits();
        long elapsed = Math.max(0, now - stamp);
        boolean given = n <= limit.burst() && level < full && elapsed < ceilDiv(n * unit, rateOf(limit));
        if (given || from > now + limit.periodMicros()) {
            long back = given ? n * unit - elapsed * rateOf(limit) : 0;
            keep(limit, Math.min(full, level + back), start(limit, level, now));
        }
        return given;
    }

    @Override
    long force(Limit limit, long permits, boolean freed, long now) {
        long level = level(limit, now);
        // The level may go below zero: a debt of the burst at most.
        long chargeable = Math.max(0, limit.burst() + Math.floorDiv(level, partsOf(limit)));
        long charged = Math.min(permits, chargeable);
        if (charged > 0 || from > now + limit.periodMicros()) {
            keep(limit, level - charged * partsOf(limit), start(limit, level, now));
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
    private boolean isInForce(Limit limit) {
        return limit == written || limit.equals(written);
    }

    private long partsOf(Limit limit) {
        return isInForce(limit) ? parts : limit.periodMicros() / limit.refillDivisor();
    }

    private long rateOf(Limit limit) {
        return isInForce(limit) ? rate : limit.permits() / limit.refillDivisor();
    }

    /** The current credit. */
    private long level(Limit limit, long now) {
        if (isInForce(limit)) {
            long full = limit.burst() * parts;
            return now >= fullAt ? full : Math.min(full, credit + Math.max(0, now - from) * rate);
        }
        return written == null
                ? limit.burst() * partsOf(limit)
                : refilled(limit, converted(limit), now - Math.min(from, now + limit.periodMicros()));
    }

    /** From when on it refills: a full one from now on, as a new one does; and a clock that stepped back costs a period at most. */
    private long start(Limit limit, long level, long now) {
        return level < limit.burst() * partsOf(limit) ? Math.max(now, Math.min(from, now + limit.periodMicros())) : now;
    }

    /** A credit after that time. */
    private long refilled(Limit limit, long level, long micros) {
        long full = limit.burst() * partsOf(limit);
        long rate = rateOf(limit);
        return micros <= 0 ? level : micros > (full - level) / rate ? full : level + micros * rate;
    }

    /** The stored credit in parts of another limit: the same permits, at most a full bucket, and no larger debt. */
    private long converted(Limit limit) {
        long unit = partsOf(limit);
        long burst = limit.burst();
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
    private long wait(long wanted, long level, long start, Limit limit, long now) {
        return wanted <= level ? 0 : start - now + ceilDiv(wanted - level, rateOf(limit));
    }
}
