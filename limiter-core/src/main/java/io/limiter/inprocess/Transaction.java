package io.limiter.inprocess;

import io.limiter.Algorithm;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
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
        final LimitStates.Name name;

        /** What decides; found anew by each attempt. */
        State state;

        /** Permits are wanted, and the key has no state of its own. */
        boolean lacksState;

        /** Permits that this charge wants, with those that others before it want of the same state, which keys share. */
        long permits;

        boolean allowed;

        @SuppressWarnings("NullAway.Init") // the state, which each attempt begins with
        Check(Charge charge, Limit limit) {
            this.charge = charge;
            this.limit = limit;
            this.name = LimitStates.Name.of(charge, limit);
        }

        /** A state that took nothing. */
        State ofNobody() {
            return States.of(limit.algorithm(), charge.key(), null);
        }

        /** For how many timestamps a new state needs room. */
        long firstStamps() {
            return States.firstStamps(charge.permits(), limit);
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
    private final List<Check> checks = new ArrayList<>();
    private final List<LimitOutcome> outcomes = new ArrayList<>();

    private Transaction(StateTable table, List<Charge> charges, long now, boolean take) {
        this.table = table;
        this.charges = charges;
        this.now = now;
        this.take = take;
        for (Charge charge : charges) {
            for (Limit limit : charge.policy().limits()) {
                checks.add(new Check(charge, limit));
            }
        }
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
                makeRoom();
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

    private void makeRoom() {
        table.makeRoom(now);
        for (Check check : checks) {
            if (check.lacksState) {
                table.makeRoom(check.name, check.charge.key(), check.firstStamps(), now);
            }
        }
    }

    /** New states are made only once it is known that all limits allow the call: one that is denied leaves nothing. */
    private Result attempt(boolean create) {
        for (Check check : checks) {
            find(check, create);
        }
        if (create && checks.size() > 1) {
            charges.forEach(this::shareGuard);
        }
        Result result = lockAndDecide(create);
        for (Check check : checks) {
            if (check.isNew() && result == Result.GRANTED) {
                table.keep(check.state, check.limit, now);
            } else if (check.isNew()) {
                table.discard(check.state);
            } else if (check.lacksState && check.state.key == null && result.compareTo(Result.LACKS_STATES) < 0) {
                table.countShared(check.name);
            }
        }
        return result;
    }

    /** Finds the state that decides, or makes it. */
    private void find(Check check, boolean create) {
        check.lacksState = false;
        // A limit of no permits asks no state, and answers as an empty log does.
        if (check.limit.permits() == 0) {
            check.state = States.of(Algorithm.SLIDING_LIST, check.charge.key(), null);
            return;
        }
        PartitionKey key = check.charge.key();
        State own = table.find(check.name, key);
        if (own != null) {
            check.state = own;
            return;
        }
        check.lacksState = take && check.charge.permits() > 0 && check.charge.permits() <= check.limit.capacity();
        if (check.lacksState && create) {
            check.state = table.create(check.name, key, check.firstStamps(), now);
            return;
        }
        State shared = table.findShared(check.name, key, now);
        check.state = shared != null ? shared : check.ofNobody();
    }

    /** Gives new states of one policy and key one lock: that of an older one, if there is one. */
    private void shareGuard(Charge charge) {
        State guard = null;
        for (Check check : checks) {
            boolean older = check.charge == charge && check.state.limit != null && !check.lacksState;
            guard = older ? check.state.guard : guard;
        }
        for (Check check : checks) {
            if (check.charge == charge && check.isNew()) {
                guard = guard == null ? check.state : guard;
                check.state.guard = guard;
            }
        }
    }

    private Result lockAndDecide(boolean create) {
        State[] guards = guards();
        for (State guard : guards) {
            guard.lock();
        }
        try {
            for (Check check : checks) {
                if (check.state.isDropped()) {
                    return Result.DROPPED;
                }
            }
            return decideLocked(create);
        } finally {
            for (State guard : guards) {
                guard.unlock();
            }
        }
    }

    /** Each guard once, in the order in which all threads lock them. */
    private State[] guards() {
        if (checks.size() == 1) {
            return new State[] {checks.get(0).state.guard};
        }
        return checks.stream()
                .map(check -> check.state.guard)
                .distinct()
                .sorted(Comparator.comparingInt(guard -> guard.order))
                .toArray(State[]::new);
    }

    private Result decideLocked(boolean create) {
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
