package io.limiter.inprocess;

import io.limiter.PartitionKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Comparator;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The states by limit and key: a hash table, which is read without a lock, and a queue by the time at which they may be
 * full. Changed, and new states made, by the thread that has {@link #lock}. Locks of states are taken after it, never before.
 *
 * <p>Not a map of the JDK: here the states are the entries, which saves an object and a cache miss for each. It does not grow:
 * it has a slot for each state from the beginning, of 4 bytes where a state has 250.
 */
final class StateMap {
    /** With few states of their own, keys share more. */
    private static final int FEWEST_SLOTS = 1 << 14;

    private static final int MOST_SLOTS = 1 << 24;
    private static final long LOOK_AGAIN_MICROS = 1_000_000;

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(State[].class);

    final ReentrantLock lock = new ReentrantLock();

    /** As many as a power of two. */
    private final State[] slots;

    private final PriorityQueue<State> queue = new PriorityQueue<>(Comparator.comparingLong(s -> s.dueMicros));
    private volatile long nextDue = Long.MAX_VALUE;

    /** @param states how many are kept at most */
    StateMap(int states) {
        int wanted = Math.max(FEWEST_SLOTS, Math.min(states, MOST_SLOTS));
        this.slots = new State[Integer.highestOneBit(2 * wanted - 1)];
    }

    private int slot(State state) {
        return Objects.requireNonNull(state.name).hash(state.key) & slots.length - 1;
    }

    /** The state of a key, or null. */
    @Nullable
    State find(LimitName name, PartitionKey key, int hash) {
        State state = (State) SLOT.getAcquire(slots, hash & slots.length - 1);
        while (state != null && !state.isOf(name, key)) {
            state = state.next;
        }
        return state;
    }

    /** Adds a state, to be checked when it is due. Under the lock. */
    void add(State state) {
        int slot = slot(state);
        state.next = slots[slot];
        SLOT.setRelease(slots, slot, state);
        queue.add(state);
        nextDue = Math.min(nextDue, state.dueMicros);
    }

    /**
     * Drops states that are full again. Takes the lock.
     *
     * @param looks how many states may be checked
     */
    void drop(long now, int looks) {
        if (nextDue > now) {
            return;
        }
        lock.lock();
        try {
            State due = queue.peek();
            for (int i = 0; i < looks && due != null && due.dueMicros <= now; i++) {
                queue.remove();
                if (!dropIfFull(due, now)) {
                    queue.add(due);
                }
                due = queue.peek();
            }
            nextDue = due == null ? Long.MAX_VALUE : due.dueMicros;
        } finally {
            lock.unlock();
        }
    }

    /** Drops a state that is not in the queue, or sets when to check it again. */
    private boolean dropIfFull(State state, long now) {
        state.lock();
        try {
            long fullAt = state.fullAtMicros();
            if (fullAt > now) {
                state.dueMicros = fullAt == State.NOT_BEFORE_END ? now + LOOK_AGAIN_MICROS : fullAt;
                return false;
            }
            // Removed first: a call that finds it dropped must not find it again.
            remove(state);
            state.drop();
            return true;
        } finally {
            state.unlock();
        }
    }

    private void remove(State state) {
        int slot = slot(state);
        State before = slots[slot];
        if (before == state) {
            SLOT.setRelease(slots, slot, state.next);
            return;
        }
        while (before.next != state) {
            before = Objects.requireNonNull(before.next, "it is in its slot");
        }
        before.next = state.next;
    }
}
