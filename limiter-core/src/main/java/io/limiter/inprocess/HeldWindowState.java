package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;

/** A fixed window whose permits can be reserved. One from which all was given back lasts as long as others can be. */
final class HeldWindowState extends HeldState<FixedWindowState> {
    HeldWindowState(FixedWindowState state, Capacity.Share stamps) {
        super(state, stamps);
    }

    @Override
    FixedWindowState settled(Limit limit, long now, boolean write) {
        FixedWindowState settled = write ? state : state.copy();
        runOut(now, write).forEach(hold -> settled.subtract(hold.permits, hold.stamp, now));
        if (settled.counted(now) == 0 && !isKept(now)) {
            settled.clear();
        }
        return settled;
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        boolean given = settled(limit, now, true).subtract(charge.permits(), stamp, now);
        if (given) {
            state.cut(limit, now);
        }
        return given;
    }

    @Override
    long counted(Limit limit, long now) {
        return state.counted(now);
    }
}
