package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * What one limit keeps for one key. The arithmetic is the twin of the Lua script of the same algorithm.
 *
 * <p>Everything is guarded by the lock of the state itself, which is held for a few hundred instructions at most. Several
 * states are locked in the order of their {@link #order}, so no two decisions wait for each other.
 */
abstract class State {
    private static final AtomicLong ORDER = new AtomicLong();

    final long order = ORDER.getAndIncrement();

    /** Whose state it is; null for a state that keys share, or that belongs to nobody. */
    final @Nullable PartitionKey key;

    /** Where it has its place, if it has one. Guarded by the lock of all tables, as {@link #dueMicros} is. */
    @Nullable
    LimitStates<State> table;

    /** When it is looked at next to drop it. */
    long dueMicros;

    /** It is in no table any more, and decides nothing. */
    boolean isDropped;

    State(@Nullable PartitionKey key) {
        this.key = key;
    }

    /**
     * Whether it can grant what is asked now. Changes nothing that is kept.
     *
     * @param permits those of the charge, and those that earlier charges of the same decision want of this state
     * @param take whether permits are to be taken, so that there must be memory for them too
     */
    abstract boolean allows(Charge charge, Limit limit, long permits, long now, boolean take);

    /**
     * Answers, and takes the permits if all limits allow it.
     *
     * <p>A denied call takes nothing, but makes what is kept fit the present clock and limit where it does not: the times in
     * its answer hold only if a clock that stepped back, or a changed limit, applies from now on.
     *
     * @param permits as for {@link #allows}
     * @param allowed what that said
     * @param granted whether all limits of the decision allow it
     * @param take whether to write; else the answer is as if
     */
    abstract LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take);

    /** Gives back what a decision with that stamp took; false when it does not count any more. */
    abstract boolean giveBack(Charge charge, Limit limit, long stamp, long now);

    /** Forgets everything that was taken. */
    abstract void clear();

    /** When the state is back to full. */
    abstract long fullAtMicros();

    /** For how many timestamps it needs room to begin with. */
    long firstStamps(long permits, Limit limit) {
        return 0;
    }

    /** Whether the last call was denied only because there was no memory for more. */
    boolean lacksMemory() {
        return false;
    }

    /** One decision by this state alone; null when it was dropped, or lacks memory for it. */
    final synchronized @Nullable LimitOutcome decide(Charge charge, Limit limit, long now, boolean take) {
        if (isDropped) {
            return null;
        }
        boolean allowed = allows(charge, limit, charge.permits(), now, take);
        return lacksMemory() ? null : answer(charge, limit, charge.permits(), now, allowed, allowed, take);
    }

    final synchronized boolean refund(Charge charge, Limit limit, long stamp, long now) {
        return !isDropped && giveBack(charge, limit, stamp, now);
    }

    /** Division of numbers below 2^53, rounded up. */
    static long ceilDiv(long dividend, long divisor) {
        return (dividend + divisor - 1) / divisor;
    }
}
