package io.limiter.inprocess;

import io.limiter.PartitionKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Comparator;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The states of a part of all keys: a hash table by limit and key, which is read without a lock, and a queue by the time at
 * which they may be full. Changed, and new states made, by the thread that has {@link #lock}. Locks of states are taken
 * after it, never before.
 *
 * <p>Not a map of the JDK: here the states are the entries, which saves an object and a cache miss for each.
 */
final class Partition {
    private static final int BITS = 4;
    /** How many there are. A power of two. */
    static final int COUNT = 1 << BITS;

    static final int FIRST_SLOTS = 16;

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(State[].class);
    private static final VarHandle SLOTS = MethodHandles.arrayElementVarHandle(State[][].class);

    final ReentrantLock lock = new ReentrantLock();

    /** Of all partitions; those of this one are changed under its lock. */
    private final State[][] slots;

    private final int number;
    /** Odd while the slots grow: then a search may miss a state. */
    private volatile int growth;

    private static final long LOOK_AGAIN_MICROS = 1_000_000;

    private final PriorityQueue<State> queue = new PriorityQueue<>(Comparator.comparingLong(s -> s.dueMicros));
    private volatile long nextDue = Long.MAX_VALUE;

    /** @param slots of all partitions, which a search reads without the step through one of these */
    Partition(State[][] slots, int number) {
        this.slots = slots;
        this.number = number;
    }

    /** The partition of a hash. */
    static int of(int hash) {
        return hash & COUNT - 1;
    }

    private static int slot(int hash, State[] slots) {
        return hash >>> BITS & slots.length - 1;
    }

    private static int slot(State state, State[] slots) {
        return slot(Objects.requireNonNull(state.limit).hash(Objects.requireNonNull(state.key)), slots);
    }

    /** The state of a key, or null; while the slots grow it may miss one. */
    @Nullable
    static State find(State[][] slots, LimitStates limit, PartitionKey key, int hash) {
        State[] present = (State[]) SLOTS.getAcquire(slots, of(hash));
        State state = (State) SLOT.getAcquire(present, slot(hash, present));
        while (state != null && (state.limit != limit || !key.equals(state.key))) {
            state = state.next;
        }
        return state;
    }

    /** The same, missing none. */
    @Nullable
    State findSurely(LimitStates limit, PartitionKey key, int hash) {
        int before = growth;
        State state = find(slots, limit, key, hash);
        if (state != null || ((before & 1) == 0 && before == growth)) {
            return state;
        }
        lock.lock();
        try {
            return find(slots, limit, key, hash);
        } finally {
            lock.unlock();
        }
    }

    /** Adds a state, to be checked when it is due. Under the lock. */
    void add(State state) {
        if (queue.size() >= slots[number].length / 4 * 3) {
            grow();
        }
        State[] present = slots[number];
        int slot = slot(state, present);
        state.next = present[slot];
        SLOT.setRelease(present, slot, state);
        queue.add(state);
        nextDue = Math.min(nextDue, state.dueMicros);
    }

    /**
     * Drops states that are full again. Takes the lock.
     *
     * @param looks how many states may be checked
     * @param dropped receives the dropped states
     */
    void drop(long now, int looks, Consumer<State> dropped) {
        if (nextDue > now) {
            return;
        }
        lock.lock();
        try {
            State due = queue.peek();
            for (int i = 0; i < looks && due != null && due.dueMicros <= now; i++) {
                queue.remove();
                if (dropIfFull(due, now)) {
                    dropped.accept(due);
                } else {
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
        State[] present = slots[number];
        int slot = slot(state, present);
        State before = present[slot];
        if (before == state) {
            SLOT.setRelease(present, slot, state.next);
            return;
        }
        while (before.next != state) {
            before = Objects.requireNonNull(before.next, "it is in its slot");
        }
        before.next = state.next;
    }

    private void grow() {
        int before = slots[number].length;
        State[] larger = new State[2 * before];
        growth++;
        for (State first : slots[number]) {
            // In their order, so that the states of a key stay neighbours. Of the two slots to which these can move.
            State[] last = new State[2];
            State state = first;
            while (state != null) {
                // A moved state links to other moved states, so a concurrent search ends.
                State following = state.next;
                int slot = slot(state, larger);
                state.next = null;
                if (last[slot / before] == null) {
                    larger[slot] = state;
                } else {
                    last[slot / before].next = state;
                }
                last[slot / before] = state;
                state = following;
            }
        }
        SLOTS.setRelease(slots, number, larger);
        growth++;
    }
}
