package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.inprocess.HoldRecords.Hold;
import java.util.List;

/** A fixed window whose permits can be reserved. */
final class HeldWindowState extends HeldState<FixedWindowState> {
    HeldWindowState(FixedWindowState state, Capacity.Share stamps) {
        super(state, stamps);
    }

    @Override
    FixedWindowState settled(Charge charge, Limit limit, long now, boolean write) {
        List<Hold> gone = runOut(now, write);
        boolean isOver = state.counted(now) == 0 && !isKept(now);
        FixedWindowState settled = write || gone.isEmpty() && !isOver ? state : state.copy();
        gone.forEach(hold -> settled.giveBack(of(charge, hold.permits), limit, hold.stamp, now, isKept(now)));
        if (isOver) {
            settled.clear();
        }
        return settled;
    }

    /** A window from which all was given back lasts as long as others can be. */
    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        return settled(charge, limit, now, true).giveBack(charge, limit, stamp, now, isKept(now));
    }

    @Override
    void close(Charge charge, Hold hold, long cost, Limit limit, long now) {
        state.giveBack(of(charge, hold.permits - cost), limit, hold.stamp, now, true);
    }

    @Override
    long counted(Limit limit, long now) {
        return state.counted(now);
    }
}
