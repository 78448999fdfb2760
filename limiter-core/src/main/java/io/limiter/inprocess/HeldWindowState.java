package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import java.util.List;

/** A fixed window whose permits can be reserved. */
final class HeldWindowState extends HeldState<FixedWindowState> {
    HeldWindowState(FixedWindowState state, Capacity.Share stamps) {
        super(state, stamps);
    }

    @Override
    FixedWindowState settled(Charge charge, Limit limit, long now, boolean write) {
        List<Hold> gone = runOut(now, write);
        FixedWindowState settled = write || gone.isEmpty() ? state : state.copy();
        gone.forEach(hold -> settled.giveBack(of(charge, hold.permits), limit, hold.stamp, now));
        return settled;
    }

    @Override
    boolean comesBack(Limit limit, LimitOutcome taken, long end) {
        return end < taken.stampMicros();
    }

    @Override
    long counted(Limit limit, long now) {
        return state.counted(now);
    }
}
