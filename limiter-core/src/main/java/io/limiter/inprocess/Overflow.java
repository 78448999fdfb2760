package io.limiter.inprocess;

import io.limiter.PartitionKey;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * States that are shared by keys for which the table was full, each with the whole limit. A key always finds the same
 * one. Clients can't guess which keys share one. Permits are taken from them under the lock of the key's partition
 * only, so all keys of a state have the same partition.
 */
final class Overflow {
    /** How many states one limit has. A power of two. */
    static final int STATES = 1024;
    /** How many states there are of all limits: those of 512 limits that are flooded. */
    static final int MOST_STATES = 512 * STATES;

    /** How long a key is denied that finds all states in use. */
    private static final long PAUSE_MICROS = 1_000_000;

    private record Place(LimitStates.Name name, int index) {}

    private final ConcurrentHashMap<Place, State> states = new ConcurrentHashMap<>();
    private final WallClock clock;
    private final int most;
    private final int factor = ThreadLocalRandom.current().nextInt() | 1;

    /** @param most how many states there are at most */
    Overflow(WallClock clock, int most) {
        this.clock = clock;
        this.most = most;
    }

    /** How many states are kept. */
    int size() {
        return states.size();
    }

    boolean isFull() {
        return states.size() >= most;
    }

    /** The shared state that counts permits of the key, or null if it is not in use. */
    @Nullable
    State inUse(LimitStates.Name name, PartitionKey key, long now) {
        State state = states.isEmpty() ? null : states.get(place(name, key));
        return state != null && !clearIfFull(state, now) ? state : null;
    }

    /**
     * Removes all states that are full, to return their memory. To be called while no call creates states: what such a call has entered
     * must be found by the next one, even if nothing is taken yet.
     */
    void sweep(long now) {
        states.values().removeIf(state -> clearIfFull(state, now));
    }

    /**
     * The state that decides for a key from now on, or one that denies where no more can be kept. Called by one thread at a time for
     * the keys of a partition.
     *
     * @param stamps where a log takes memory for its timestamps
     */
    State enter(LimitStates.Name name, PartitionKey key, Capacity.Share stamps, long now) {
        Place place = place(name, key);
        State state = states.get(place);
        if (state == null) {
            if (isFull()) {
                return denying(now);
            }
            state = States.of(name.algorithm(), null, clock, stamps);
            states.put(place, state);
        }
        return state;
    }

    /** A state that denies for a while. */
    State denying(long now) {
        return FixedWindowState.usedUpUntil(now + PAUSE_MICROS, clock);
    }

    /** Clears a state that is full, so that it may be removed. */
    private static boolean clearIfFull(State state, long now) {
        state.lock();
        try {
            if (state.fullAtMicros() > now) {
                return false;
            }
            state.clear();
            return true;
        } finally {
            state.unlock();
        }
    }

    /** Depends on the limit too, so that two keys that share a state under one limit rarely do under another. */
    private Place place(LimitStates.Name name, PartitionKey key) {
        int partition = Partition.of(LimitStates.hash(LimitStates.hash(name.policy()), key));
        int ofKey = hash(hash(factor, name.limit()), key.canonical());
        return new Place(name, (ofKey & (STATES - Partition.COUNT)) + partition);
    }

    /** Not String.hashCode, because anybody can make colliding keys for it. */
    private int hash(int start, String text) {
        int hash = start;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * factor;
            hash ^= hash >>> 15;
        }
        return hash;
    }
}
