package io.limiter.inprocess;

import io.limiter.PartitionKey;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The states that the keys of one limit share which came when the table was full, each with the whole limit. A key always
 * finds the same one. Which keys share one can't be guessed from outside.
 */
final class Overflow {
    /** How many states there are. A power of two. */
    static final int STATES = 1024;

    private final AtomicReferenceArray<@Nullable State> states = new AtomicReferenceArray<>(STATES);
    /** Calls that got a state and have not charged it yet. */
    private final AtomicIntegerArray entered = new AtomicIntegerArray(STATES);

    private final Supplier<State> newState;
    private final int factor = ThreadLocalRandom.current().nextInt() | 1;

    Overflow(Supplier<State> newState) {
        this.newState = newState;
    }

    /** The state that stands for a key, or null when none of its keys was ever here. */
    @Nullable
    State find(PartitionKey key) {
        return states.get(index(key));
    }

    /** Whether a key must still be decided here, because what it used may stand here. Forgets a state that is full. */
    boolean isInUse(PartitionKey key, long now) {
        int index = index(key);
        State state = states.get(index);
        if (state == null) {
            return false;
        }
        if (entered.get(index) > 0) {
            return true;
        }
        state.hold();
        try {
            if (state.fullAtMicros() > now) {
                return true;
            }
            state.clear();
            return false;
        } finally {
            state.release();
        }
    }

    /** Forgets all states that are full, to give back what they hold. */
    void sweep(long now) {
        for (int i = 0; i < STATES; i++) {
            State state = states.get(i);
            if (state != null && entered.get(i) == 0) {
                state.hold();
                try {
                    if (state.fullAtMicros() <= now) {
                        state.clear();
                    }
                } finally {
                    state.release();
                }
            }
        }
    }

    /** The state that decides a key, until {@link #leave}. Called under the table's lock. */
    State enter(PartitionKey key) {
        int index = index(key);
        entered.incrementAndGet(index);
        State state = states.get(index);
        if (state == null) {
            state = newState.get();
            states.set(index, state);
        }
        return Objects.requireNonNull(state);
    }

    /** The call that entered is decided. */
    void leave(PartitionKey key) {
        entered.decrementAndGet(index(key));
    }

    private int index(PartitionKey key) {
        // Not String.hashCode, for which anybody can make colliding keys.
        String text = key.canonical();
        int hash = factor;
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * factor;
            hash ^= hash >>> 15;
        }
        return hash & (STATES - 1);
    }
}
