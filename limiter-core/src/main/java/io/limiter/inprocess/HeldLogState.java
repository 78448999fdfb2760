package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.inprocess.HoldRecords.Hold;
import java.util.Comparator;
import java.util.List;

/** A log whose permits can be reserved. */
final class HeldLogState extends HeldState<SlidingLogState> {
    /** The shortest period with which it was written since it has records: what has left the log then does not come back. */
    private long shortest = Long.MAX_VALUE;

    HeldLogState(SlidingLogState state, Capacity.Share stamps) {
        super(state, stamps);
    }

    @Override
    SlidingLogState settled(Limit limit, long now, boolean write) {
        long period = Math.min(shortest, limit.spec().periodMicros());
        if (write) {
            shortest = isKept(now) ? period : limit.spec().periodMicros();
        }
        List<Hold> counting = runOut(now, write).stream()
                .filter(hold -> hold.stamp > now - period)
                .sorted(Comparator.comparingLong(hold -> hold.stamp))
                .toList();
        if (counting.isEmpty()) {
            return state;
        }
        SlidingLogState settled = write ? state : state.copy();
        settled.remove(
                null,
                counting.stream().mapToLong(hold -> hold.stamp).toArray(),
                counting.stream().mapToLong(hold -> hold.permits).toArray());
        return settled;
    }

    @Override
    void close(Charge charge, Hold hold, long cost, Limit limit, long now) {
        if (hold.stamp > now - shortest) {
            super.close(charge, hold, cost, limit, now);
        }
    }

    @Override
    long counted(Limit limit, long now) {
        return state.counted(limit, now);
    }

    @Override
    long room(Limit limit, long permits, long now) {
        return state.room(limit, permits, now);
    }
}
