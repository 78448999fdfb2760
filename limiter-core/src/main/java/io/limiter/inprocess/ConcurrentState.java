package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.internal.Access;

/** How many permits are in flight. The twin of concurrent.lua, with one instance that never dies. */
final class ConcurrentState extends State implements LimitOutcome.Holder {
    private long count;

    ConcurrentState(PartitionKey key) {
        super(key);
    }

    @Override
    Verdict check(Charge charge, Limit limit, long permits, long now, boolean take) {
        return Verdict.of(charge.permits() == 0 || count + permits <= limit.permits());
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take) {
        long used = granted ? count + charge.permits() : count;
        if (take) {
            count = used;
        }
        long retryAfter = permits > limit.permits() ? LimitOutcome.NEVER : LimitOutcome.UNKNOWN;
        long remaining = Math.max(0, limit.permits() - used);
        LimitOutcome outcome = LimitOutcome.of(charge, limit, allowed, remaining, retryAfter, 0, 0, 0);
        return granted && take ? outcome.heldBy(Access.LIBRARY, this) : outcome;
    }

    /** The call has ended. */
    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        boolean held = count > 0;
        count = Math.max(0, count - charge.permits());
        return held;
    }

    /** It needs no time. What holds permits is never dropped. */
    @Override
    public boolean end(LimitOutcome held) {
        lock();
        boolean first = held.claimEnd(Access.LIBRARY);
        count -= first ? held.permits() : 0;
        unlock();
        return first;
    }

    /** Calls stay in flight, whatever is forgotten. */
    @Override
    void clear() {}

    @Override
    long fullAtMicros() {
        return count > 0 ? NOT_BEFORE_END : 0;
    }
}
