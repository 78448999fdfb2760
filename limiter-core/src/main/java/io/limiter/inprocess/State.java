package io.limiter.inprocess;

import io.limiter.Algorithm;
import io.limiter.PartitionKey;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What one limit keeps for one key. The arithmetic is the twin of the Lua script of the same algorithm, step by step:
 * look, charge, describe, back. Those steps are called while the state is held; a dropped state can't be held again.
 *
 * <p>Several states are held in the order of their {@link #order}, so no two decisions wait for each other.
 */
abstract class State {
    private static final AtomicLong ORDER = new AtomicLong();

    /** Where this state stands when several are held. */
    final long order = ORDER.getAndIncrement();

    /** The room that can drop this state, and its key there; null for a state that is in no table. */
    final @Nullable Room room;

    final @Nullable PartitionKey key;

    /** When the drop queue looks at this state next. Guarded by the queue's lock. */
    long dueMicros;

    /**
     * A state that took nothing.
     *
     * @param room and key where it can be dropped; null for a state that keys share, or that belongs to nobody
     * @param stamps where a log takes room for its timestamps; null for a state that is only looked at
     */
    static State of(
            Algorithm algorithm, @Nullable Room room, @Nullable PartitionKey key, Capacity.@Nullable Share stamps) {
        return switch (algorithm) {
            case FIXED_WINDOW -> new FixedWindowState(room, key);
            case SLIDING_LIST, SLIDING_ZSET -> new SlidingLogState(room, key, stamps);
            case TOKEN_BUCKET -> new TokenBucketState(room, key);
        };
    }

    State(@Nullable Room room, @Nullable PartitionKey key) {
        this.room = room;
        this.key = key;
    }

    /** Holds the state; false when it was dropped. Held for a few hundred instructions at most. */
    abstract boolean hold();

    /** Lets go. */
    abstract void release();

    /** Fills in what is stored, and whether the ask is allowed. Changes nothing. */
    abstract void look(Ask ask);

    /** Takes the permits of an ask that {@link #look} allowed; when the ask only looks, as if. */
    abstract void charge(Ask ask);

    /**
     * Makes what is stored fit the present clock and limit, where it does not. A denied call does so too: it takes nothing,
     * but the times in its answer hold only if a clock that stepped back, or a changed limit, applies from now on.
     */
    abstract void settle(Ask ask);

    /** Fills in retryAfter, remaining, next, reset and stamp. */
    abstract void describe(Ask ask);

    /** Gives back what a decision with that stamp took; false when it does not count any more. */
    abstract boolean back(Ask ask, long stamp);

    /** Forgets everything that was taken. */
    abstract void clear();

    /** When the state is back to full. */
    abstract long fullAtMicros();

    /** Marks the held state as dropped. */
    abstract void drop();

    /** One decision by this state alone; false when the state was dropped. */
    boolean decideAlone(Ask ask) {
        if (!hold()) {
            return false;
        }
        try {
            look(ask);
            if (ask.allowed && ask.charge.permits() > 0) {
                charge(ask);
            } else if (ask.takes()) {
                settle(ask);
            }
            describe(ask);
            return true;
        } finally {
            release();
        }
    }

    /** Waits a moment for whoever holds a state: spins, then yields, then sleeps in case the holder has no processor. */
    static int pause(int turns) {
        if (turns < 32) {
            Thread.onSpinWait();
        } else if (turns < 64) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(20_000);
            // An interrupted thread is not parked.
            Thread.yield();
        }
        return turns + 1;
    }
}
