package io.limiter.inprocess;

import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
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
    void look(Bucket standing, Ask ask) {
        Limit limit = ask.limit;
        long divisor = limit.refillDivisor();
        ask.rate = limit.permits() / divisor;
        ask.parts = limit.periodMicros() / divisor;
        ask.full = limit.burst() * ask.parts;
        ask.level = ask.full;
        ask.from = ask.now;
        ask.ahead = false;
        if (ask.now < standing.fullAt) {
            refill(standing, ask);
        }
        long n = ask.permits();
        ask.allowed = ask.charge.permits() == 0 || (n <= limit.burst() && ask.level >= n * ask.parts);
        ask.retryAfter =
                ask.allowed ? 0 : n > limit.burst() ? LimitOutcome.NEVER : time(ask, n * ask.parts - ask.level);
    }

    @Override
    Bucket charged(Ask ask) {
        ask.level -= ask.charge.permits() * ask.parts;
        return settled(ask);
    }

    @Override
    Bucket settled(Ask ask) {
        return new Bucket(ask.level, ask.from, ask.parts, ask.rate, ask.now + time(ask, ask.full - ask.level));
    }

    @Override
    @Nullable
    Bucket refunded(Bucket standing, Ask ask, long stamp) {
        // What has refilled since the call was given back already. Under another limit than that of the call nobody
        // knows.
        long n = ask.charge.permits();
        long elapsed = Math.max(0, ask.now - stamp);
        if (n > ask.limit.burst()
                || ask.level == ask.full
                || standing.parts != ask.parts
                || standing.rate != ask.rate
                || elapsed >= Ask.ceilDiv(n * ask.parts, ask.rate)) {
            return null;
        }
        ask.level = Math.min(ask.full, ask.level + n * ask.parts - elapsed * ask.rate);
        // The burst may have been raised since: the state lives on as long as it would have.
        return new Bucket(ask.level, ask.from, ask.parts, ask.rate, standing.fullAt);
    }

    @Override
    void describe(Ask ask) {
        long missing = ask.full - ask.level;
        ask.remaining = ask.level / ask.parts;
        ask.next = missing > 0 ? time(ask, ask.parts - ask.level % ask.parts) : 0;
        ask.reset = time(ask, missing);
        ask.stamp = ask.from;
    }

    @Override
    Bucket full() {
        return FULL;
    }

    @Override
    long fullAtMicros(Bucket standing) {
        return standing.fullAt;
    }

    /** The credit that stands now. */
    private static void refill(Bucket standing, Ask ask) {
        // A clock that stepped back gives nothing until it is back where it was, or a period has passed.
        long from = Math.min(standing.from, ask.now + ask.limit.periodMicros());
        ask.ahead = from < standing.from;
        ask.from = Math.max(from, ask.now);
        long elapsed = Math.max(0, ask.now - from);
        long burst = ask.limit.burst();
        long whole = burst;
        long credit = standing.credit;
        if (standing.parts != ask.parts || standing.rate != ask.rate) {
            // Another rate or period. Nobody knows since when: the lesser of what both would have brought, in whole
            // permits.
            whole = Math.min(whole, (credit + elapsed * standing.rate) / standing.parts);
            credit = Math.min(credit / standing.parts, burst) * ask.parts;
        }
        // More credit than a lowered burst holds is a full bucket.
        if (elapsed < Ask.ceilDiv(ask.full - credit, ask.rate)) {
            ask.level = credit + elapsed * ask.rate;
        }
        ask.level = Math.min(ask.level, whole * ask.parts);
    }

    /** How long until so much credit has come. */
    private static long time(Ask ask, long credit) {
        return credit > 0 ? ask.from - ask.now + Ask.ceilDiv(credit, ask.rate) : 0;
    }
}
