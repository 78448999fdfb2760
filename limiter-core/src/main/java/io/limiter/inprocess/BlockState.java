package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;

/**
 * The denials of the other limits of a policy, and the block that too many of them cause. The permits of a call are the
 * number of denials to count. The twin of block.lua.
 */
final class BlockState extends State {
    private long count;
    private long end;
    private long length;
    private long blockedUntil;
    private long forgottenAt;

    BlockState(PartitionKey key) {
        super(key);
    }

    @Override
    Verdict check(Charge charge, Limit limit, long denials, long now, boolean take) {
        return Verdict.of(charge.permits() == 0
                || (blockedUntil <= now && (denials == 0 || counted(now) + denials < limit.permits())));
    }

    private long counted(long now) {
        return end > now ? count : 0;
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit limit, long denials, long now, boolean allowed, boolean granted, boolean take) {
        long counts = count;
        long until = end;
        long blocked = blockedUntil;
        long forgotten = forgottenAt;
        if (charge.permits() > 0 && (granted || take)) {
            // A clock that stepped back, or shorter times, cut the window and the block.
            long longest = limit.untilMicros();
            long lasts = length;
            until = Math.min(until, now + limit.periodMicros());
            blocked = Math.min(blocked, now + Math.min(lasts, longest));
            forgotten = Math.min(forgotten, blocked + longest);
            boolean isCut = until != end || blocked != blockedUntil || forgotten != forgottenAt;
            if (isCut && forgotten <= now && (counts == 0 || until <= now)) {
                // Nothing is left, even if the clock steps back.
                counts = 0;
                until = 0;
                lasts = 0;
                blocked = 0;
                forgotten = 0;
            }
            if (!granted && denials > 0 && blocked <= now) {
                counts = counted(now) + denials;
                until = counts == denials ? now + limit.periodMicros() : until;
                if (counts >= limit.permits()) {
                    lasts = Math.min(longest, Math.max(limit.fromMicros(), forgotten > now ? 2 * lasts : 0));
                    blocked = now + lasts;
                    forgotten = blocked + longest;
                    counts = 0;
                }
            }
            if (take) {
                count = counts;
                end = until;
                length = lasts;
                blockedUntil = blocked;
                forgottenAt = forgotten;
            }
        }
        long left = Math.max(0, blocked - now);
        long window = counts > 0 ? Math.max(0, until - now) : 0;
        long remaining = left > 0 ? 0 : Math.max(0, limit.permits() - (window > 0 ? counts : 0));
        long reset = Math.max(window, forgotten - now);
        return LimitOutcome.of(charge, limit, allowed, remaining, left, left > 0 ? left : window, reset, 0);
    }

    /** An allowed call has counted nothing. */
    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        return false;
    }

    @Override
    void clear() {
        count = 0;
        end = 0;
        length = 0;
        blockedUntil = 0;
        forgottenAt = 0;
    }

    @Override
    long fullAtMicros() {
        return Math.max(count > 0 ? end : 0, forgottenAt);
    }
}
