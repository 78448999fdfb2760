package io.limiter.inprocess;

import io.limiter.PartitionKey;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The states by limit and key: a hash table that is read without a lock. A slot is changed under the lock of its
 * {@link Partition}, all of them under the locks of all.
 *
 * <p>Not a map of the JDK: here the states are the entries, which saves an object and a cache miss for each.
 */
final class StateIndex {
    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(State[].class);
    private static final int FIRST_SLOTS = 256;

    private volatile State[] slots = new State[FIRST_SLOTS];
    /** Odd while it grows: then a search may miss a state. */
    private volatile int growth;

    /** The state of a key, or null; while the table grows it may miss one. */
    @Nullable
    State find(LimitStates limit, PartitionKey key, int hash) {
        State[] present = slots;
        State state = (State) SLOT.getAcquire(present, hash & present.length - 1);
        while (state != null && (state.limit != limit || !key.equals(state.key))) {
            state = state.next;
        }
        return state;
    }

    /** The version before and after a search; the search has missed nothing if both are equal and even. */
    int growth() {
        return growth;
    }

    /** Whether that many states need more slots. */
    boolean isTooSmallFor(long states) {
        return states > slots.length / 4 * 3;
    }

    /** Adds a state. Under the lock of its partition. */
    void add(State state) {
        State[] present = slots;
        int slot = slot(state, present);
        state.next = present[slot];
        SLOT.setRelease(present, slot, state);
    }

    /** Removes a state that is there. Under the lock of its partition. */
    void remove(State state) {
        State[] present = slots;
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

    /** Doubles the slots. Under the locks of all partitions. */
    void grow() {
        State[] smaller = slots;
        State[] larger = new State[2 * smaller.length];
        growth++;
        for (State first : smaller) {
            State state = first;
            while (state != null) {
                // A moved state links to other moved states, so a concurrent search ends.
                State following = state.next;
                int slot = slot(state, larger);
                state.next = larger[slot];
                larger[slot] = state;
                state = following;
            }
        }
        slots = larger;
        growth++;
    }

    private static int slot(State state, State[] slots) {
        int hash = Objects.requireNonNull(state.limit).hash(Objects.requireNonNull(state.key));
        return hash & slots.length - 1;
    }
}
