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
    private static final Bucket FULL = new Bucket(0, 0, 0, 0);

    /** Credit at a time, in parts of which a permit has so many; when it is full again. No parts: a full bucket. */
    record Bucket(long credit, long stamp, long parts, long fullAt) {}

    TokenBucketState(@Nullable Room room, @Nullable PartitionKey key) {
        super(room, key, FULL);
    }

    @Override
    void look(Bucket standing, Ask ask) {
        Limit limit = ask.limit;
        long divisor = limit.refillDivisor();
        long rate = limit.permits() / divisor;
        long parts = limit.periodMicros() / divisor;
        long burst = limit.burst();
        long full = burst * parts;
        ask.level = full;
        if (standing.parts != 0) {
            // Another period or rate: whole permits carry over.
            long credit = standing.parts == parts
                    ? standing.credit
                    : Math.min(standing.credit / standing.parts, burst) * parts;
            // A clock that stepped back gives nothing. More credit than a lowered burst holds is a full bucket.
            long elapsed = Math.max(0, ask.now - standing.stamp);
            if (elapsed < Ask.ceilDiv(full - credit, rate)) {
                ask.level = credit + elapsed * rate;
            }
        }
        long n = ask.permits();
        ask.allowed = ask.charge.permits() == 0 || (n <= burst && ask.level >= n * parts);
        ask.retryAfter = ask.allowed ? 0 : n > burst ? LimitOutcome.NEVER : Ask.ceilDiv(n * parts - ask.level, rate);
    }

    @Override
    Bucket charged(Ask ask) {
        long divisor = ask.limit.refillDivisor();
        ask.level -= ask.charge.permits() * (ask.limit.periodMicros() / divisor);
        return bucket(ask, divisor);
    }

    @Override
    @Nullable
    Bucket refunded(Bucket standing, Ask ask, long stamp) {
        long divisor = ask.limit.refillDivisor();
        long rate = ask.limit.permits() / divisor;
        long parts = ask.limit.periodMicros() / divisor;
        long full = ask.limit.burst() * parts;
        // What has refilled since the call was given back already.
        long taken = Math.min(ask.charge.permits(), ask.limit.burst()) * parts;
        long elapsed = Math.max(0, ask.now - stamp);
        if (ask.level == full || elapsed >= Ask.ceilDiv(taken, rate)) {
            return null;
        }
        ask.level = Math.min(full, ask.level + taken - elapsed * rate);
        return ask.level == full ? FULL : bucket(ask, divisor);
    }

    @Override
    void describe(Ask ask) {
        long divisor = ask.limit.refillDivisor();
        long rate = ask.limit.permits() / divisor;
        long parts = ask.limit.periodMicros() / divisor;
        long missing = ask.limit.burst() * parts - ask.level;
        ask.remaining = ask.level / parts;
        ask.next = missing > 0 ? Ask.ceilDiv(parts - ask.level % parts, rate) : 0;
        ask.reset = Ask.ceilDiv(missing, rate);
        ask.stamp = ask.now;
    }

    @Override
    Bucket full() {
        return FULL;
    }

    @Override
    long fullAtMicros(Bucket standing) {
        return standing.fullAt;
    }

    private static Bucket bucket(Ask ask, long divisor) {
        long parts = ask.limit.periodMicros() / divisor;
        long missing = ask.limit.burst() * parts - ask.level;
        return new Bucket(ask.level, ask.now, parts, ask.now + Ask.ceilDiv(missing, ask.limit.permits() / divisor));
    }
}
