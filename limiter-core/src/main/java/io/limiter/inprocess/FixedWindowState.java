package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.internal.CalendarWindow;
import io.limiter.internal.LimitSpec;
import org.jspecify.annotations.Nullable;

/**
 * A counter that starts with the first admitted call and ends one period later, or at the next turn of a calendar. The twin of
 * fixed_window.lua.
 */
final class FixedWindowState extends State {
    /** More than limits and debts can be. */
    private static final long USED_UP = 4 * Limit.MAX_PERMITS;

    private long count;
    private long end;
    private final WallClock clock;

    FixedWindowState(@Nullable PartitionKey key, WallClock clock) {
        super(key);
        this.clock = clock;
    }

    /**
     * A state without a key that has granted all of any limit until that time, at most for one period of the limit. It is kept
     * nowhere, so it denies later too.
     */
    static FixedWindowState usedUpUntil(long end, WallClock clock) {
        FixedWindowState state = new FixedWindowState(null, clock);
        state.count = USED_UP;
        state.end = end;
        return state;
    }

    @Override
    Verdict check(Charge charge, Limit limit, long permits, long now, boolean take) {
        return Verdict.of(charge.permits() == 0 || counted(now) + permits <= limit.permits());
    }

    /** The same, for another to change. */
    FixedWindowState copy() {
        FixedWindowState copy = new FixedWindowState(key, clock);
        copy.count = count;
        copy.end = end;
        return copy;
    }

    /** The permits that count now. */
    long counted(long now) {
        return end > now || count == USED_UP ? count : 0;
    }

    private long latestEnd(LimitSpec spec, long now) {
        if (spec.terms() instanceof CalendarWindow calendar) {
            long wall = clock.unixMicros(now);
            return now + calendar.nextTurnMicros(wall) - wall;
        }
        return now + spec.periodMicros();
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take) {
        LimitSpec spec = limit.spec();
        long counted = counted(now);
        long until = counted > 0 ? Math.max(end, now + 1) : 0;
        long latest = latestEnd(spec, now);
        if (charge.permits() > 0 && (granted || (take && Math.max(until, end) > latest))) {
            // A clock that stepped back, or a shorter period, cuts the window.
            until = granted && counted == 0 && end <= now ? latest : Math.min(Math.max(until, end), latest);
            counted += granted ? charge.permits() : 0;
            if (take) {
                count = counted;
                end = until;
            }
        }
        long wait = counted > 0 ? until - now : 0;
        long retryAfter = allowed ? 0 : permits > spec.permits() ? LimitOutcome.NEVER : wait;
        long remaining = Math.max(0, spec.permits() - counted);
        return LimitOutcome.of(charge, limit, allowed, remaining, retryAfter, wait, wait, until);
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        boolean given = subtract(charge.permits(), stamp, now);
        if (given) {
            cut(limit, now);
            end = count == 0 ? 0 : end;
        }
        return given;
    }

    /** Takes permits out of the window that ends then, if it is this one and has any; it stays, with the rest or nothing. */
    boolean subtract(long permits, long stamp, long now) {
        boolean isIn = end > now && end == stamp && count > 0;
        count = isIn ? Math.max(0, count - permits) : count;
        return isIn;
    }

    /** It ends no later than one that begins now. */
    void cut(Limit limit, long now) {
        end = Math.min(end, latestEnd(limit.spec(), now));
    }

    @Override
    void clear() {
        count = 0;
        end = 0;
    }

    @Override
    long fullAtMicros() {
        return end;
    }
}
