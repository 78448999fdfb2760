package io.limiter.inprocess;

import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * Permits refill continuously, up to a burst. Exact: credit is counted in parts of a permit. The twin of
 * token_bucket.lua.
 */
final class TokenBucketState extends SwappedState<TokenBucketState.Bucket> {
    private static final Bucket FULL = new Bucket(0, 0, 1, 1, 0);

    /**
     * So much credit from a time on.
     *
     * @param parts of which a permit has so many
     * @param rate so many parts a microsecond
     * @param fullAt when it is full again; from then on it is as if it had never been used
     */
    record Bucket(long credit, long from, long parts, long rate, long fullAt) {}

    TokenBucketState(@Nullable Room room, @Nullable PartitionKey key) {
        super(room, key, FULL);
    }

    @Override
    void look(Bucket stored, Ask ask) {
        Limit limit = ask.limit;
        long divisor = limit.refillDivisor();
        ask.rate = limit.permits() / divisor;
        ask.parts = limit.periodMicros() / divisor;
        ask.full = limit.burst() * ask.parts;
        ask.level = ask.full;
        ask.from = ask.now;
        ask.pending = null;
        if (ask.now < stored.fullAt) {
            refill(stored, ask);
        }
        long n = ask.permits();
        ask.allowed = ask.charge.permits() == 0 || (n <= limit.burst() && ask.level >= n * ask.parts);
    }

    @Override
    Bucket charged(Ask ask) {
        ask.level -= ask.charge.permits() * ask.parts;
        return renewed(ask);
    }

    @Override
    @Nullable
    Bucket settled(Bucket stored, Ask ask) {
        return ask.pending != null || ask.from > ask.now + ask.limit.periodMicros() ? renewed(ask) : null;
    }

    /** From now on the present limit applies, and a clock that stepped back costs a period at most. */
    private static Bucket renewed(Ask ask) {
        ask.from = Math.min(ask.from, ask.now + ask.limit.periodMicros());
        ask.pending = null;
        return ask.level < ask.full
                ? new Bucket(ask.level, ask.from, ask.parts, ask.rate, ask.now + time(ask, ask.full))
                : FULL;
    }

    @Override
    @Nullable
    Bucket refunded(Bucket stored, Ask ask, long stamp) {
        // What has refilled since the call was given back already. Under another limit than that of the call nobody
        // knows.
        long n = ask.charge.permits();
        long elapsed = Math.max(0, ask.now - stamp);
        if (n > ask.limit.burst()
                || ask.level == ask.full
                || stored.parts != ask.parts
                || stored.rate != ask.rate
                || elapsed >= Ask.ceilDiv(n * ask.parts, ask.rate)) {
            return null;
        }
        ask.level = Math.min(ask.full, ask.level + n * ask.parts - elapsed * ask.rate);
        // The burst may have been raised since: the state lives on as long as it would have.
        return new Bucket(ask.level, ask.from, ask.parts, ask.rate, stored.fullAt);
    }

    @Override
    void describe(Ask ask) {
        ask.remaining = ask.level / ask.parts;
        ask.next = time(ask, Math.min(ask.full, (ask.remaining + 1) * ask.parts));
        ask.reset = time(ask, ask.full);
        ask.stamp = ask.from;
        ask.retryAfter = ask.allowed ? 0 : ask.neverFits() ? LimitOutcome.NEVER : time(ask, ask.permits() * ask.parts);
    }

    @Override
    Bucket full() {
        return FULL;
    }

    @Override
    long fullAtMicros(Bucket standing) {
        return standing.fullAt;
    }

    /** The credit that is there now. For the time before a changed limit was seen: the lesser of what both rates brought. */
    private static void refill(Bucket stored, Ask ask) {
        long elapsed = Math.max(0, ask.now - stored.from);
        boolean changed = stored.parts != ask.parts || stored.rate != ask.rate;
        long most = changed ? converted(stored, stored.credit + elapsed * stored.rate, ask) : ask.full;
        long credit = changed ? converted(stored, stored.credit, ask) : stored.credit;
        long filled = Ask.ceilDiv(ask.full - credit, ask.rate);
        // More credit than a lowered burst holds is a full bucket.
        ask.level = elapsed < filled ? Math.min(most, credit + elapsed * ask.rate) : most;
        // A full bucket refills from now on, as a new one does.
        ask.from = ask.level < ask.full ? Math.max(stored.from, ask.now) : ask.now;
        // The state would be full, and dropped, before a raised burst is.
        if (changed || stored.fullAt < stored.from + filled) {
            ask.pending = stored;
        }
    }

    /** Credit in the stored parts as credit in parts of the present limit, rounded down; a full bucket at most. */
    private static long converted(Bucket stored, long credit, Ask ask) {
        return BigInteger.valueOf(credit)
                .multiply(BigInteger.valueOf(ask.parts))
                .divide(BigInteger.valueOf(stored.parts))
                .min(BigInteger.valueOf(ask.full))
                .longValue();
    }

    /**
     * How long until there is so much credit. While a changed limit is pending: until both rates have brought it, or the
     * state is dropped as full.
     */
    private static long time(Ask ask, long credit) {
        if (credit <= ask.level) {
            return 0;
        }
        if (!(ask.pending instanceof Bucket stored)) {
            return ask.from - ask.now + Ask.ceilDiv(credit - ask.level, ask.rate);
        }
        BigInteger byNew = ceilDiv(BigInteger.valueOf(credit - converted(stored, stored.credit, ask)), ask.rate);
        BigInteger storedCredit =
                ceilDiv(BigInteger.valueOf(credit).multiply(BigInteger.valueOf(stored.parts)), ask.parts);
        BigInteger byOld = ceilDiv(storedCredit.subtract(BigInteger.valueOf(stored.credit)), stored.rate);
        long both = byNew.max(byOld)
                .min(BigInteger.valueOf(stored.fullAt - stored.from))
                .longValue();
        return stored.from + both - ask.now;
    }

    private static BigInteger ceilDiv(BigInteger dividend, long divisor) {
        BigInteger[] quotient = dividend.divideAndRemainder(BigInteger.valueOf(divisor));
        return quotient[1].signum() > 0 ? quotient[0].add(BigInteger.ONE) : quotient[0];
    }
}
