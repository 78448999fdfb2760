package io.limiter.inprocess;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * States that keys share for which there was no room, each with the whole limit. A key always finds the same one. Which
 * keys share one can't be guessed from outside.
 *
 * <p>Limits beyond the first {@value #LIMITS} that need one have an overflow together. There each limit has a range of states,
 * and a state serves one limit at a time: keys of another limit are denied until it is full again.
 */
final class Overflow {
    /** How many states one limit has. A power of two. */
    static final int STATES = 1024;
    /** How many limits have an overflow of their own. */
    static final int LIMITS = 512;
    /** How many states the others have together, and how many of those one limit can use. Powers of two. */
    static final int STATES_OF_OTHERS = 16 * STATES;

    private static final int RANGE = 64;

    private record Slot(State state, Room.Name name) {}

    private final AtomicReferenceArray<@Nullable Slot> slots;
    /** Calls that got a state and have not charged it yet. */
    private final AtomicIntegerArray entered;

    private final boolean ofOthers;
    private final int factor = ThreadLocalRandom.current().nextInt() | 1;

    /** The overflow of one limit, or that of all limits that have none. */
    Overflow(boolean ofOthers) {
        int count = ofOthers ? STATES_OF_OTHERS : STATES;
        this.slots = new AtomicReferenceArray<>(count);
        this.entered = new AtomicIntegerArray(count);
        this.ofOthers = ofOthers;
    }

    /** The shared state of an ask's key, or null when none of its keys was ever here. */
    @Nullable
    State find(Ask ask) {
        Slot slot = slots.get(index(ask));
        return slot != null && fits(slot, ask) ? slot.state : null;
    }

    /** Whether a key must still be decided here, because what it used may be counted here. */
    boolean isInUse(Ask ask) {
        int index = index(ask);
        Slot slot = slots.get(index);
        return slot != null && fits(slot, ask) && !isIdle(index, slot, ask.now);
    }

    /** Forgets all states that are full, to give back what they hold. Returns whether none is left in use. */
    boolean sweep(long now) {
        boolean idle = true;
        for (int i = 0; i < slots.length(); i++) {
            Slot slot = slots.get(i);
            if (slot != null) {
                idle &= isIdle(i, slot, now);
            }
        }
        return idle;
    }

    /**
     * The state that decides an ask until it leaves, or one that denies while the place is another limit's. Called under
     * the table's lock.
     *
     * @param stamps where a log takes room for its timestamps
     */
    State enter(Ask ask, Capacity.Share stamps) {
        int index = index(ask);
        Slot slot = slots.get(index);
        if (slot == null || (!fits(slot, ask) && isIdle(index, slot, ask.now))) {
            slot = new Slot(State.of(ask.limit.algorithm(), null, null, stamps), Room.Name.of(ask));
            slots.set(index, slot);
        }
        if (!fits(slot, ask)) {
            return new NoRoomState(slot.state.fullAtMicros());
        }
        entered.incrementAndGet(index);
        ask.entered = this;
        return slot.state;
    }

    /** The call that entered is decided. */
    void leave(Ask ask) {
        entered.decrementAndGet(index(ask));
    }

    /** Whether nothing of a state is in use; then it is forgotten. */
    private boolean isIdle(int index, Slot slot, long now) {
        if (entered.get(index) > 0) {
            return false;
        }
        slot.state.hold();
        try {
            if (slot.state.fullAtMicros() > now) {
                return false;
            }
            slot.state.clear();
            return true;
        } finally {
            slot.state.release();
        }
    }

    private boolean fits(Slot slot, Ask ask) {
        return !ofOthers || slot.name.equals(Room.Name.of(ask));
    }

    private int index(Ask ask) {
        int ofKey = hash(factor, ask.charge.key().canonical());
        if (!ofOthers) {
            return ofKey & (STATES - 1);
        }
        // A limit has a range, so that no flood under one takes the places of all.
        int range = hash(factor, ask.charge.policy().name()) & (STATES_OF_OTHERS / RANGE - 1);
        return range * RANGE + (ofKey & (RANGE - 1));
    }

    /** Not String.hashCode, for which anybody can make colliding keys. */
    private int hash(int start, String text) {
        int hash = start;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * factor;
            hash ^= hash >>> 15;
        }
        return hash;
    }
}
