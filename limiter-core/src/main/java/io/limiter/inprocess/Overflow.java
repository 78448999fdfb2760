package io.limiter.inprocess;

import io.limiter.Algorithm;
import io.limiter.Limit;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * States that keys share for which there was no room, each with the whole limit. A key always finds the same one. Which
 * keys share one can't be guessed from outside.
 *
 * <p>The limits of policies made at run time have one overflow together. There a state serves one limit at a time, and
 * keys of another limit are denied until it is full again.
 */
final class Overflow {
    /** How many states one limit has. A power of two. */
    static final int STATES = 1024;
    /** How many the policies made at run time have. A power of two. */
    static final int STATES_OF_ALL = 16 * STATES;

    /** What must be equal for two limits to have one meaning. */
    private record Shape(Algorithm algorithm, long permits, long periodMicros, long burst) {
        static Shape of(Limit limit) {
            return new Shape(limit.algorithm(), limit.permits(), limit.periodMicros(), limit.burst());
        }
    }

    private record Slot(State state, Shape shape) {}

    private final AtomicReferenceArray<@Nullable Slot> slots;
    /** Calls that got a state and have not charged it yet. */
    private final AtomicIntegerArray entered;

    private final Capacity.Share stamps;
    private final boolean ofAll;
    private final int factor = ThreadLocalRandom.current().nextInt() | 1;

    /** The overflow of one limit, or that of all policies made at run time. */
    Overflow(Capacity.Share stamps, boolean ofAll) {
        int count = ofAll ? STATES_OF_ALL : STATES;
        this.slots = new AtomicReferenceArray<>(count);
        this.entered = new AtomicIntegerArray(count);
        this.stamps = stamps;
        this.ofAll = ofAll;
    }

    /** The state that stands for an ask's key, or null when none of its keys was ever here. */
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

    /** Forgets all states that are full, to give back what they hold. */
    void sweep(long now) {
        for (int i = 0; i < slots.length(); i++) {
            Slot slot = slots.get(i);
            if (slot != null) {
                isIdle(i, slot, now);
            }
        }
    }

    /**
     * The state that decides an ask until it leaves, or one that denies while the place is another limit's. Called under
     * the table's lock.
     */
    State enter(Ask ask) {
        int index = index(ask);
        Slot slot = slots.get(index);
        if (slot == null || (!fits(slot, ask) && isIdle(index, slot, ask.now))) {
            slot = new Slot(State.of(ask.limit.algorithm(), null, null, stamps), Shape.of(ask.limit));
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

    /** A limit of a configured policy may change; it stays the same limit. */
    private boolean fits(Slot slot, Ask ask) {
        return !ofAll || slot.shape.equals(Shape.of(ask.limit));
    }

    private int index(Ask ask) {
        int hash = hash(factor, ask.charge.key().canonical());
        if (ofAll) {
            hash = hash(hash, ask.charge.policy().name());
        }
        return hash & (slots.length() - 1);
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
