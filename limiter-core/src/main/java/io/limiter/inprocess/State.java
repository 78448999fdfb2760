package io.limiter.inprocess;

import io.limiter.Backend.Settled;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * What one limit keeps for one key. The arithmetic is the twin of the Lua script of the same algorithm.
 *
 * <p>Everything is guarded by the lock of its {@link #guard}, which is held for a few hundred instructions at most. Several
 * guards are locked in the order of their {@link #order}, so no two decisions wait for each other.
 *
 * <p>The time of a decision is never earlier than a time that was read under the same lock before: the state would take that for
 * a clock that stepped back.
 */
abstract class State {
    private static final AtomicLong ORDER = new AtomicLong();
    private static final AtomicIntegerFieldUpdater<State> LOCK =
            AtomicIntegerFieldUpdater.newUpdater(State.class, "lock");
    /** How often a thread tries again at once, and then yields, before it sleeps. */
    private static final int SPINS = 64;

    private static final int YIELDS = 1_000;
    private static final long SLEEP_NANOS = 50_000;
    private static final long DROPPED = Long.MIN_VALUE;
    /** When a state is full again that nobody knows. */
    static final long NOT_BEFORE_END = Long.MAX_VALUE;

    /** The answer of a state to a charge. */
    enum Verdict {
        GRANTS,
        DENIES,
        /** It denies only because there is no memory for more. */
        LACKS_MEMORY;

        static Verdict of(boolean grants) {
            return grants ? GRANTS : DENIES;
        }
    }

    /** The locking order. Two have the same number only if 4 billion were made between them. */
    final int order = (int) ORDER.getAndIncrement();

    /** The key of the state. A state that keys share has a key that is no client's. */
    final PartitionKey key;

    /**
     * The state with the lock: this one, or another of the same policy and key, so that a call to a policy of several
     * limits takes one lock. Set before others see the state.
     */
    State guard = this;

    /** Its limit, if it is in the table or made for it. */
    @Nullable
    LimitName name;

    /** What it has its memory from, if it is in the table or made for it. */
    Capacity.@Nullable Shares share;

    /** What is reserved of it; null until something is. */
    @Nullable
    HoldSet reserved;

    /** The next one in the same slot of the table. */
    volatile @Nullable State next;

    /**
     * The last bit: whether a thread has it. A field of its own costs a third of a monitor, see design/decisions/in-process.md.
     * The other bits: the low bits of the time of the last holder, which need no memory there.
     */
    private volatile int lock;

    /** When to check next whether it can be dropped, or {@link #DROPPED}. Guarded by the lock of the {@link StateMap}. */
    long dueMicros;

    State(PartitionKey key) {
        this.key = key;
    }

    /**
     * Whether it grants the permits now. Does not change the state.
     *
     * @param permits those of the charge, and those that earlier charges of the same decision need from this state
     * @param take whether permits are to be taken, so that there must be memory for them too
     */
    abstract Verdict check(Charge charge, Limit limit, long permits, long now, boolean take);

    /** How many permits a charge needs from this state. */
    long wanted(Charge charge, Limit limit, long now) {
        return charge.permits();
    }

    /**
     * Answers, and takes the permits if all limits allow it.
     *
     * <p>A denied call takes nothing, but adapts the state to the current clock and limit: the times in its answer are
     * correct only if a clock that stepped back, or a changed limit, applies from now on.
     *
     * @param permits as for {@link #check}
     * @param allowed whether that grants them
     * @param granted whether all limits of the decision allow it
     * @param take whether to write; else the answer is the same, but nothing is written
     */
    abstract LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take);

    /** Gives back what a decision with that timestamp took; false if it does not count any more. */
    abstract boolean giveBack(Charge charge, Limit limit, long stamp, long now);

    /** Confirms what a decision with that timestamp took; false if it does not count any more. */
    boolean confirm(Charge charge, Limit limit, long stamp, long now) {
        return false;
    }

    /** What a call that may write does first, also one that is denied: it gives back what has run out. */
    final void tidy(long now) {
        if (reserved != null) {
            reserved.tidy(this, now);
        }
    }

    /**
     * A record ends: gives back its permits, which count in the state of a window only.
     *
     * @param window the end of the window in which they were counted; 0 in a bucket
     * @return whether they counted until now
     */
    boolean free(long permits, long window, long now) {
        return true;
    }

    /**
     * Charges without asking, up to a debt of the capacity; how many permits it charged. Adapts the state as a denied call does.
     *
     * @param freed what {@link #free} said, if it was called before
     */
    long force(Limit limit, long permits, boolean freed, long now) {
        return 0;
    }

    /** Settles the reservation with that timestamp and id. */
    final Settled settle(Charge charge, Limit limit, long stamp, String id, long actual, TimeSource time) {
        long now = time.nowMicros();
        int last = lock();
        try {
            now = timeOfHolder(now, last, time);
            return isDropped()
                    ? HoldSet.settleNothing(charge, stamp, actual)
                    : HoldSet.settle(this, charge, limit, stamp, id, actual, now);
        } finally {
            unlock(now);
        }
    }

    /** Forgets everything that was taken, and what is reserved. */
    abstract void clear();

    /** Part of that. */
    final void clearHolds() {
        if (reserved != null) {
            reserved.release();
            reserved = null;
        }
    }

    /** Whether it is of that limit and key. */
    final boolean isOf(LimitName limit, PartitionKey whose) {
        return (name == limit || limit.equals(name)) && whose.equals(key);
    }

    /** Whether keys share it. */
    final boolean isShared() {
        return share != null && share.shared() == null;
    }

    /** Whether something of it is in use. */
    final boolean isUsed(long now) {
        lock();
        try {
            return fullAtMicros() > now;
        } finally {
            unlock();
        }
    }

    /** Whether it was removed from the table, and must not decide. */
    final boolean isDropped() {
        return dueMicros == DROPPED;
    }

    /** Whether only a {@link Transaction} decides: it finds another state, or first gives back what of its records has run out. */
    final boolean needsTransaction() {
        return isDropped() || reserved != null && reserved.lastKept() > Long.MIN_VALUE;
    }

    /** Forgets everything, returns the memory, and marks the state as removed. */
    final void drop() {
        clear();
        discard();
        dueMicros = DROPPED;
    }

    /** Returns the memory of a state that has taken nothing. */
    final void discard() {
        Objects.requireNonNull(share).entries().change(-1);
    }

    /** When the state is back to full; {@link #NOT_BEFORE_END} if nobody knows. */
    abstract long fullAtMicros();

    /** Waits until no other thread has its guard. Must not be called by a thread that has it. Returns the low bits of the last time. */
    final int lock() {
        State holder = guard;
        int word = holder.lock;
        return (word & 1) == 0 && LOCK.compareAndSet(holder, word, word | 1) ? word : holder.lockLater();
    }

    final void unlock() {
        LOCK.lazySet(guard, guard.lock & ~1);
    }

    /** Ends the lock of a holder that used this time. */
    final void unlock(long now) {
        LOCK.lazySet(guard, (int) now << 1);
    }

    /**
     * The time for the holder of the lock, which read this one before it had the lock. Read again if it is earlier than that of the
     * last holder, or may be: 18 minutes later looks earlier.
     */
    static long timeOfHolder(long read, int last, TimeSource time) {
        return ((int) read << 1) - last < 0 ? time.nowMicros() : read;
    }

    /** It is held for less than a microsecond, unless the holder is preempted. */
    private int lockLater() {
        for (int tries = 0; ; tries++) {
            int word = lock;
            if ((word & 1) == 0 && LOCK.compareAndSet(this, word, word | 1)) {
                return word;
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

    /**
     * One decision by this state alone; null if it was dropped or has too little memory.
     *
     * @param read the time, read before
     */
    final @Nullable Decision decide(
            Policy policy, PartitionKey key, long permits, Limit limit, long read, TimeSource time, boolean take) {
        // Made here, where its uses are compiled into one method: then it is never an object.
        Charge charge = new Charge(policy, key, permits);
        int last = lock();
        long now = read;
        try {
            now = timeOfHolder(read, last, time);
            Verdict verdict = needsTransaction() ? null : check(charge, limit, permits, now, take);
            if (verdict == null || verdict == Verdict.LACKS_MEMORY) {
                return null;
            }
            boolean allowed = verdict == Verdict.GRANTS;
            LimitOutcome outcome = answer(charge, limit, permits, now, allowed, allowed, take);
            return Decision.of(Decision.Source.IN_PROCESS, outcome);
        } finally {
            unlock(now);
        }
    }

    /** Gives back or confirms what a decision with that timestamp took. */
    final boolean end(Charge charge, Limit limit, long stamp, TimeSource time, boolean keep) {
        long now = time.nowMicros();
        int last = lock();
        try {
            now = timeOfHolder(now, last, time);
            return !isDropped() && (keep ? confirm(charge, limit, stamp, now) : giveBack(charge, limit, stamp, now));
        } finally {
            unlock(now);
        }
    }

    /** An id of the charge's key as it is stored: in a state that keys share, two keys may use the same. */
    final String owned(Charge charge, String id) {
        return !isShared()
                ? id
                : PartitionKey.of(charge.policy().name() + " " + charge.key().canonical() + " " + id)
                        .canonical();
    }

    /** The request id as states keep it: a hash of a long one. */
    static @Nullable String idText(Charge charge) {
        String id = charge.requestId();
        return id == null ? null : PartitionKey.of(id).canonical();
    }

    /** Division of numbers below 2^53, rounded up. */
    static long ceilDiv(long dividend, long divisor) {
        // No division where none is needed: it would be a third of the time of a decision.
        return divisor == 1 ? dividend : 0 < dividend && dividend <= divisor ? 1 : (dividend + divisor - 1) / divisor;
    }
}
