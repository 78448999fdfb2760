package io.limiter.inprocess;

import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * The states of a part of all keys, in a queue by the time at which they may be full. Changed, and new states made, by the thread
 * that has {@link #lock}. Locks of states are taken after it, never before.
 */
final class Partition {
    /** How many there are. A power of two, at most the number of slots of the index. */
    static final int COUNT = 16;

    final ReentrantLock lock = new ReentrantLock();
    /** Which call that may create states is or was the last. */
    volatile long creation;

    private final StateIndex index;
    private final PriorityQueue<State> queue = new PriorityQueue<>(Comparator.comparingLong(s -> s.dueMicros));
    private volatile long nextDue = Long.MAX_VALUE;

    Partition(StateIndex index) {
        this.index = index;
    }

    /** The partition of a hash: the same for all states of one slot of the index. */
    static int of(int hash) {
        return hash & COUNT - 1;
    }

    /** Adds a state, to be checked when it is due. Under the lock. */
    void add(State state) {
        index.add(state);
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
            if (state.fullAtMicros() > now) {
                state.dueMicros = state.fullAtMicros();
                return false;
            }
            // Removed from the index first: a call that finds it dropped must not find it again.
            index.remove(state);
            state.drop();
            return true;
        } finally {
            state.unlock();
        }
    }
}
