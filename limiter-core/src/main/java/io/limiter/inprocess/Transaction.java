package io.limiter.inprocess;

import io.limiter.Algorithm;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Decides all limits of one call, for keys that are known or not: all of them are looked at, then all are charged, or none.
 * Belongs to one thread.
 */
final class Transaction {
    /** How it ended; from {@link #LACKS_STATES} on, undecided. */
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
        final State state;

        /** Permits are wanted, and the key has no state of its own. */
        final boolean lacksState;

        /** Permits that this charge wants, with those that others before it want of the same state, which keys share. */
        long permits;

        boolean allowed;

        Check(Charge charge, Limit limit, State state, boolean lacksState) {
            this.charge = charge;
            this.limit = limit;
            this.state = state;
            this.lacksState = lacksState;
        }

        /** Whether the state was made for this check, to be put into the table. */
        boolean isNew() {
            return lacksState && state.limit != null;
        }
    }

    private final StateTable table;
    private final List<Charge> charges;
    private final long now;
    private final boolean take;
    private final List<LimitOutcome> outcomes = new ArrayList<>();

    private Transaction(StateTable table, List<Charge> charges, long now, boolean take) {
        this.table = table;
        this.charges = charges;
        this.now = now;
        this.take = take;
    }

    static Decision decide(StateTable table, List<Charge> charges, long now, boolean take) {
        return Decision.of(Decision.Source.IN_PROCESS, charges, new Transaction(table, charges, now, take).decide());
    }

    /** Decides; one outcome for each limit of each charge. */
    private List<LimitOutcome> decide() {
        boolean reclaimed = false;
        while (true) {
            Result result = attempt(false);
            if (result == Result.LACKS_STATES) {
                table.makeRoom(charges, now);
                result = table.creating(charges, () -> attempt(true));
            }
            if (result == Result.LACKS_MEMORY && !reclaimed) {
                // Nothing was taken: drop what is full, and ask once more.
                reclaimed = true;
                table.reclaim(now);
            } else if (result != Result.DROPPED) {
                return outcomes;
            }
        }
    }

    /** New states are made only once it is known that all limits allow the call: one that is denied leaves nothing. */
    private Result attempt(boolean create) {
        List<Check> checks = new ArrayList<>();
        for (Charge charge : charges) {
            int first = checks.size();
            for (Limit limit : charge.policy().limits()) {
                checks.add(check(charge, limit, create));
            }
            shareGuard(checks.subList(first, checks.size()));
        }
        Result result = lockAndDecide(checks, create);
        for (Check check : checks) {
            boolean isNew = check.isNew();
            if (isNew && result == Result.GRANTED) {
                table.keep(check.state, check.charge, check.limit, now);
            } else if (isNew) {
                table.discard(check.state);
            } else if (check.lacksState && check.state.key == null && result.compareTo(Result.LACKS_STATES) < 0) {
                table.countShared(check.charge, check.limit);
            }
        }
        return result;
    }

    private Check check(Charge charge, Limit limit, boolean create) {
        // A limit of no permits asks no state, and answers as an empty log does.
        State own = limit.permits() == 0
                ? States.of(Algorithm.SLIDING_LIST, charge.key(), null)
                : table.find(charge, limit);
        if (own != null) {
            return new Check(charge, limit, own, false);
        }
        boolean lacksState = take && charge.permits() > 0 && charge.permits() <= limit.capacity();
        if (lacksState && create) {
            return new Check(charge, limit, table.create(charge, limit, now), true);
        }
        State shared = table.findShared(charge, limit, now);
        State state = shared != null ? shared : States.of(limit.algorithm(), charge.key(), null);
        return new Check(charge, limit, state, lacksState);
    }

    /** Gives new states of one policy and key one lock: that of an older one, if there is one. */
    private static void shareGuard(List<Check> ofOneCharge) {
        State guard = null;
        for (Check check : ofOneCharge) {
            guard = check.state.limit != null && !check.lacksState ? check.state.guard : guard;
        }
        for (Check check : ofOneCharge) {
            if (check.isNew()) {
                guard = guard == null ? check.state : guard;
                check.state.guard = guard;
            }
        }
    }

    private Result lockAndDecide(List<Check> checks, boolean create) {
        State[] guards = checks.stream()
                .map(check -> check.state.guard)
                .distinct()
                .sorted(Comparator.comparingInt(guard -> guard.order))
                .toArray(State[]::new);
        for (State guard : guards) {
            guard.lock();
        }
        try {
            return checks.stream().anyMatch(check -> check.state.isDropped())
                    ? Result.DROPPED
                    : decideLocked(checks, create);
        } finally {
            for (State guard : guards) {
                guard.unlock();
            }
        }
    }

    private Result decideLocked(List<Check> checks, boolean create) {
        boolean granted = true;
        boolean lacksStates = false;
        boolean lacksMemory = false;
        for (int i = 0; i < checks.size(); i++) {
            Check check = checks.get(i);
            check.permits = check.charge.permits();
            for (Check earlier : checks.subList(0, i)) {
                check.permits += earlier.state == check.state ? earlier.charge.permits() : 0;
            }
            check.allowed = check.state.allows(check.charge, check.limit, check.permits, now, take);
            granted &= check.allowed;
            lacksStates |= check.lacksState && !create;
            lacksMemory |= check.state.lacksMemory();
        }
        if (granted && lacksStates) {
            return Result.LACKS_STATES;
        }
        outcomes.clear();
        for (Check check : checks) {
            // What others before it wanted, they have taken by now.
            long permits = granted ? check.charge.permits() : check.permits;
            outcomes.add(check.state.answer(check.charge, check.limit, permits, now, check.allowed, granted, take));
        }
        return granted ? Result.GRANTED : lacksMemory ? Result.LACKS_MEMORY : Result.DENIED;
    }
}
