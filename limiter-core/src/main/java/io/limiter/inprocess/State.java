package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What one limit keeps for one key. The arithmetic is the twin of the Lua script of the same algorithm.
 *
 * <p>Everything is guarded by the lock of its {@link #guard}, which is held for a few hundred instructions at most. Several
 * guards are locked in the order of their {@link #order}, so no two decisions wait for each other.
 */
abstract class State {
    private static final AtomicLong ORDER = new AtomicLong();
    private static final VarHandle LOCK = lockHandle();
    /** How often a thread tries again at once, and then gives its core to another, before it sleeps. */
    private static final int SPINS = 64;

    private static final int YIELDS = 1_000;
    private static final long SLEEP_NANOS = 50_000;
    private static final long DROPPED = Long.MIN_VALUE;

    /** By which several are locked. Two of them have one number only where 4 billion were made between them. */
    final int order = (int) ORDER.getAndIncrement();

    /** Whose state it is; null for a state that keys share, or that belongs to nobody. */
    final @Nullable PartitionKey key;

    /**
     * Whose lock is the state's: its own, or that of a state of the same policy and key, so that a call to a policy of several
     * limits takes one lock. Set before others see the state.
     */
    State guard = this;

    /** Which limit's it is, if it has a place in the table. */
    @Nullable
    LimitStates limit;

    /** The next one in the same slot of the table. */
    volatile @Nullable State next;

    /** Whether a thread has it. A word of its own costs a third of a monitor, see docs/decisions.md. */
    @SuppressWarnings("unused") // by LOCK
    private int lock;

    /** When it is looked at next to drop it, or {@link #DROPPED}. Guarded by the lock of the partition, as its place is. */
    long dueMicros;

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

    /** How many permits a charge wants of this state. */
    long wanted(Charge charge, Limit limit, long now) {
        return charge.permits();
    }

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

    /** Keeps for good what a decision with that stamp took; false when it does not count any more. */
    boolean confirm(Charge charge, Limit limit, long stamp, long now) {
        return false;
    }

    /** Forgets everything that was taken. */
    abstract void clear();

    /** It is in no table any more, and decides nothing. */
    final boolean isDropped() {
        return dueMicros == DROPPED;
    }

    /** Forgets everything, for ever. */
    final void drop() {
        clear();
        dueMicros = DROPPED;
    }

    /** When the state is back to full. */
    abstract long fullAtMicros();

    /** Whether the last call was denied only because there was no memory for more. */
    boolean lacksMemory() {
        return false;
    }

    /** Waits until no other thread has its guard. Not to be called by a thread that has that. */
    final void lock() {
        if (!LOCK.compareAndSet(guard, 0, 1)) {
            guard.lockLater();
        }
    }

    final void unlock() {
        LOCK.setRelease(guard, 0);
    }

    /** It is held for less than a microsecond, unless its holder has lost its core. */
    private void lockLater() {
        for (int tries = 0; ; tries++) {
            if ((int) LOCK.getOpaque(this) == 0 && LOCK.compareAndSet(this, 0, 1)) {
                return;
            }
            if (tries < SPINS) {
                Thread.onSpinWait();
            } else if (tries < YIELDS) {
                Thread.yield();
            } else {
                LockSupport.parkNanos(SLEEP_NANOS);
            }
        }
    }

    private static VarHandle lockHandle() {
        try {
            return MethodHandles.lookup().findVarHandle(State.class, "lock", int.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    /** One decision by this state alone; null when it was dropped, or lacks memory for it. */
    final @Nullable Decision decide(Charge charge, Limit limit, long now, boolean take) {
        lock();
        try {
            boolean allowed = !isDropped() && allows(charge, limit, charge.permits(), now, take);
            return isDropped() || lacksMemory()
                    ? null
                    : Decision.of(
                            Decision.Source.IN_PROCESS,
                            answer(charge, limit, charge.permits(), now, allowed, allowed, take));
        } finally {
            unlock();
        }
    }

    /** Ends what a decision with that stamp took: gives it back, or keeps it. */
    final boolean end(Charge charge, Limit limit, long stamp, long now, boolean keep) {
        lock();
        try {
            return !isDropped() && (keep ? confirm(charge, limit, stamp, now) : giveBack(charge, limit, stamp, now));
        } finally {
            unlock();
        }
    }

    /** An id of the charge's key as it is kept: in a state that keys share, two of them may use the same. */
    final String owned(Charge charge, String id) {
        return key != null
                ? id
                : PartitionKey.of(charge.policy().name() + " " + charge.key().canonical() + " " + id)
                        .canonical();
    }

    /** Division of numbers below 2^53, rounded up. */
    static long ceilDiv(long dividend, long divisor) {
        // No division where none is needed: it would be a third of the time of a decision.
        return divisor == 1 ? dividend : 0 < dividend && dividend <= divisor ? 1 : (dividend + divisor - 1) / divisor;
    }
}
