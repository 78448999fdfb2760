package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;

/**
 * A counter that starts with the first admitted call and ends one period later, or at the next turn of a calendar. The twin of
 * fixed_window.lua.
 */
final class FixedWindowState extends State {
    private long count;
    private long end;
    private final WallClock clock;

    FixedWindowState(PartitionKey key, WallClock clock) {
        super(key);
        this.clock = clock;
    }

    @Override
    Verdict check(Charge charge, Limit limit, long permits, long now, boolean take) {
        return Verdict.of(charge.permits() == 0 || counted(now) + permits <= limit.permits());
    }

    /** The permits that count now. */
    private long counted(long now) {
        return end > now ? count : 0;
    }

    private long latestEnd(Limit limit, long now) {
        if (limit.isAligned()) {
            long wall = clock.unixMicros(now);
            return now + limit.endMicros(wall) - wall;
        }
        return now + limit.periodMicros();
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take) {
        long counted = counted(now);
        long latest = latestEnd(limit, now);
        // A clock that stepped back, or a shorter period, cuts the window.
        long until = counted == 0 ? 0 : Math.max(now + 1, Math.min(end, latest));
        if (charge.permits() > 0 && granted) {
            until = counted == 0 ? latest : until;
            counted += charge.permits();
        }
        if (charge.permits() > 0 && take && counted > 0) {
            count = counted;
            end = until;
        }
        long wait = counted > 0 ? until - now : 0;
        long retryAfter = allowed ? 0 : permits > limit.permits() ? LimitOutcome.NEVER : wait;
        long remaining = Math.max(0, limit.permits() - counted);
        return LimitOutcome.of(charge, limit, allowed, remaining, retryAfter, wait, wait, until);
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        tidy(now);
        boolean given = free(charge.permits(), stamp, now);
        end = count == 0 ? 0 : end;
        cut(limit, now);
        return given;
    }

    /** Takes permits out of the window that is stored with that end, if it stands. */
    @Override
    boolean free(long permits, long window, long now) {
        boolean stands = end > now && end == window && count > 0;
        if (stands) {
            count = Math.max(0, count - permits);
        }
        return stands;
    }

    /** It ends no later than one that begins now. */
    private void cut(Limit limit, long now) {
        end = Math.min(end, latestEnd(limit, now));
    }

    @Override
    long force(Limit limit, long permits, boolean freed, long now) {
        cut(limit, now);
        long counted = counted(now);
        long charged = Math.min(permits, Math.max(0, 2 * limit.permits() - counted));
        if (charged > 0) {
            // Where the permits were counted until now, the window stands, also with nothing else in it.
            end = counted > 0 || freed ? end : latestEnd(limit, now);
            count = counted + charged;
        }
        return charged;
    }

    @Override
    void clear() {
        count = 0;
        end = 0;
        clearHolds();
    }

    @Override
    long fullAtMicros() {
        return reserved == null ? end : Math.max(end, reserved.lastKept());
    }
}
