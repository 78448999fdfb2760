package io.limiter.inprocess;

import io.limiter.Algorithm;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Decides all limits of one call, for keys that are known or not: all of them are looked at, then all are charged, or none.
 * Belongs to one thread.
 */
final class Transaction {
    private static final Comparator<Check> LOCK_ORDER = Comparator.comparingLong(check -> check.state().order);

    private enum Result {
        /** All limits allow it, so it was charged if it was to be. */
        GRANTED,
        DENIED,
        /** Denied because a log could not grow. */
        LACKS_MEMORY,
        /** All limits allow it, but it would take from a key that has no state. */
        LACKS_STATES,
        /** A state was dropped between its finding and its locking. */
        DROPPED
    }

    /** One limit of one charge. */
    private static final class Check {
        final Charge charge;
        final Limit limit;

        @Nullable
        State state;

        /** The state was made for this call. */
        boolean isNew;

        /** Permits are wanted, and keys share the state. */
        boolean isShared;

        /** Permits that this charge wants, with those that others before it want of the same state, which keys share. */
        long permits;

        boolean allowed;

        Check(Charge charge, Limit limit) {
            this.charge = charge;
            this.limit = limit;
        }

        State state() {
            return Objects.requireNonNull(state, "found before it is locked");
        }
    }

    private final StateTable table;
    private final long now;
    private final boolean take;
    private final List<Check> checks = new ArrayList<>();
    private final List<LimitOutcome> outcomes = new ArrayList<>();

    Transaction(StateTable table, List<Charge> charges, long now, boolean take) {
        this.table = table;
        this.now = now;
        this.take = take;
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                checks.add(new Check(charge, limit));
            }
        }
    }

    /** Decides; one outcome for each limit of each charge. */
    List<LimitOutcome> decide() {
        boolean reclaimed = false;
        while (true) {
            Result result = attempt(false);
            if (result == Result.LACKS_STATES) {
                synchronized (table) {
                    result = attempt(true);
                }
            }
            if (result == Result.LACKS_MEMORY && !reclaimed) {
                // Nothing was taken: drop what is full, and ask once more.
                reclaimed = true;
                table.reclaim(now);
            } else if (result != Result.DROPPED) {
                for (Check check : checks) {
                    if (check.isShared) {
                        table.countShared(check.charge, check.limit);
                    }
                }
                return outcomes;
            }
        }
    }

    /** New states are made only once it is known that all limits allow the call: one that is denied leaves nothing. */
    private Result attempt(boolean create) {
        boolean lacksStates = false;
        for (Check check : checks) {
            // A limit of no permits asks no state, and answers as an empty log does.
            check.state = check.limit.permits() == 0
                    ? State.of(Algorithm.SLIDING_LIST, null, null)
                    : table.find(check.charge, check.limit);
            check.isNew = false;
            check.isShared = false;
            boolean lacksState = check.state == null
                    && take
                    && check.charge.permits() > 0
                    && check.charge.permits() <= check.limit.capacity();
            if (lacksState && create) {
                check.state = table.create(check.charge, check.limit, now);
                check.isNew = check.state().key != null;
                check.isShared = !check.isNew;
            } else if (check.state == null) {
                State shared = table.findShared(check.charge, check.limit, now);
                check.state = shared != null ? shared : State.of(check.limit.algorithm(), null, null);
                check.isShared = shared != null && lacksState;
                lacksStates |= lacksState;
            }
        }
        List<Check> inOrder = new ArrayList<>(checks);
        inOrder.sort(LOCK_ORDER);
        Result result = lockAndDecide(inOrder, 0, lacksStates);
        for (Check check : checks) {
            if (check.isNew && result == Result.GRANTED) {
                table.keep(check.state(), check.charge, check.limit, now);
            } else if (check.isNew) {
                table.discard(check.charge, check.limit);
            }
        }
        return result;
    }

    /** Locks the states from the i-th on, one within the other. */
    private Result lockAndDecide(List<Check> inOrder, int i, boolean lacksStates) {
        if (i == inOrder.size()) {
            return decideLocked(inOrder, lacksStates);
        }
        State state = inOrder.get(i).state();
        synchronized (state) {
            return state.isDropped() ? Result.DROPPED : lockAndDecide(inOrder, i + 1, lacksStates);
        }
    }

    private Result decideLocked(List<Check> inOrder, boolean lacksStates) {
        boolean granted = true;
        boolean lacksMemory = false;
        @Nullable Check before = null;
        for (Check check : inOrder) {
            boolean again = before != null && before.state == check.state;
            check.permits = check.charge.permits() + (again ? before.permits : 0);
            check.allowed = check.state().allows(check.charge, check.limit, check.permits, now, take);
            granted &= check.allowed;
            lacksMemory |= check.state().lacksMemory();
            before = check;
        }
        if (granted && lacksStates) {
            return Result.LACKS_STATES;
        }
        outcomes.clear();
        for (Check check : checks) {
            // What others before it wanted, they have taken by now.
            long permits = granted ? check.charge.permits() : check.permits;
            outcomes.add(check.state()
                    .answer(check.charge, check.limit, permits, now, check.allowed, granted, take));
        }
        return granted ? Result.GRANTED : lacksMemory ? Result.LACKS_MEMORY : Result.DENIED;
    }
}
