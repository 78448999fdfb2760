package io.limiter.inprocess;

import io.limiter.PartitionKey;
import io.limiter.internal.LimitSpec;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * States that are shared by keys for which the table was full, each with the whole limit. A key always finds the same
 * one. Clients can't guess which keys share one. Permits are taken from them under the lock of the key's partition
 * only, so all keys of a state have the same partition.
 *
 * <p>Limits beyond the first {@value #LIMITS} that need one share an overflow. There each limit has a range of states,
 * and a state serves one limit at a time: keys of another limit are denied until it is full again.
 */
final class Overflow {
    /** How many states one limit has. A power of two. */
    static final int STATES = 1024;
    /** How many limits have an overflow of their own. */
    static final int LIMITS = 512;
    /** How many states all other limits share. */
    static final int STATES_OF_OTHERS = 64 * STATES;

    private static final int RANGE_OF_OTHERS = 256;

    private static final long NO_CREATION = -1;

    private static final class Slot {
        final State state;
        final LimitStates.Name name;
        /** The last call that entered it: until that call is decided the state is in use, even if nothing is taken yet. */
        long creation;

        Slot(State state, LimitStates.Name name) {
            this.state = state;
            this.name = name;
        }
    }

    private final AtomicReferenceArray<@Nullable Slot> slots;
    /** How many states a limit can use: a power of two, as their number. */
    private final int range;

    private final WallClock clock;
    private final int factor = ThreadLocalRandom.current().nextInt() | 1;

    private Overflow(int states, int range, WallClock clock) {
        this.slots = new AtomicReferenceArray<>(states);
        this.range = range;
        this.clock = clock;
    }

    /** The overflow of one limit. */
    static Overflow ofOne(WallClock clock) {
        return new Overflow(STATES, STATES, clock);
    }

    /** That of all limits without one. */
    static Overflow ofOthers(WallClock clock) {
        return new Overflow(STATES_OF_OTHERS, RANGE_OF_OTHERS, clock);
    }

    /** The shared state that counts permits of the key, or null if it is not in use. */
    @Nullable
    State inUse(LimitStates.Name name, PartitionKey key, long now, long creation) {
        Slot slot = slots.get(index(name, key));
        return slot != null && slot.name.equals(name) && !isIdle(slot, now, creation) ? slot.state : null;
    }

    /**
     * Removes all states that are full, to return their memory. Returns whether none is left in use.
     * To be called while no call creates states.
     */
    boolean sweep(long now) {
        boolean idle = true;
        for (int i = 0; i < slots.length(); i++) {
            Slot slot = slots.get(i);
            idle &= slot == null || isIdle(slot, now, NO_CREATION);
        }
        return idle;
    }

    /**
     * The state that decides for a key from now on, or one that denies while another limit uses it.
     *
     * @param stamps where a log takes memory for its timestamps
     */
    State enter(LimitStates.Name name, PartitionKey key, Capacity.Share stamps, long now, long creation) {
        int index = index(name, key);
        Slot slot = slots.get(index);
        if (slot == null || (!slot.name.equals(name) && isIdle(slot, now, creation))) {
            slot = new Slot(States.of(name.algorithm(), null, clock, stamps), name);
            slots.set(index, slot);
        }
        if (slot.name.equals(name)) {
            slot.creation = creation;
            return slot.state;
        }
        long until = slot.state.fullAtMicros();
        return FixedWindowState.usedUpUntil(until > now ? until : now + LimitSpec.MAX_PERIOD_MICROS, clock);
    }

    /** Whether a state is unused; if so, it is removed. */
    private static boolean isIdle(Slot slot, long now, long creation) {
        slot.state.lock();
        try {
            if (slot.creation == creation || slot.state.fullAtMicros() > now) {
                return false;
            }
            slot.state.clear();
            return true;
        } finally {
            slot.state.unlock();
        }
    }

    private int index(LimitStates.Name name, PartitionKey key) {
        int partition = Partition.of(LimitStates.hash(LimitStates.hash(name.policy()), key));
        // Depends on the limit too, so that two of one policy rarely collide.
        int ofKey = hash(hash(factor, name.limit()), key.canonical());
        // A limit has a range, so that a flood under one limit can't use all states.
        int first = hash(factor, name.policy()) & (slots.length() - range);
        return first + (ofKey & (range - Partition.COUNT)) + partition;
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
