package io.limiter.inprocess;

import io.limiter.Backend.Mode;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import io.limiter.internal.Algorithm;
import io.limiter.internal.HoldTerms;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Decides all limits of one call, for keys with or without a state: all of them are checked, then all are charged, or
 * none. Used by one thread.
 */
final class Transaction {
    /** How an attempt ended. Those from {@link #LACKS_STATES} on decide nothing: there is another attempt. The order matters. */
    enum Result {
        /** All limits allow it, so it was charged if it was to be. */
        GRANTED,
        DENIED,
        /** Denied because a log could not grow. */
        LACKS_MEMORY,
        /** It would write to a state that does not exist. */
        LACKS_STATES,
        /** A state was dropped between its finding and its locking. */
        DROPPED
    }

    /** One limit of one charge. */
    private static final class Check {
        final Charge charge;
        final Limit limit;
        final LimitName name;
        final boolean isBlock;
        /** Whether a reservation keeps a record in its state. */
        final boolean isReserved;

        /** The state that decides; found again by each attempt. */
        State state;
        /** Permits are needed, and the key has no state of its own. */
        boolean lacksState;
        /** How long until a reservation finds room; 0 if now. */
        long waitForRoom;

        /**
         * Permits that this charge needs, with those that earlier charges need from the same state, which keys share;
         * of a block the denials that it counts.
         */
        long permits;

        State.Verdict verdict = State.Verdict.DENIES;

        @SuppressWarnings("NullAway.Init") // the state, which each attempt begins with
        Check(Charge charge, Limit limit, LimitName name, boolean reserves) {
            this.charge = charge;
            this.limit = limit;
            this.name = name;
            this.isBlock = limit.algorithm() == Algorithm.BLOCK;
            this.isReserved =
                    reserves && charge.policy().holds() > 0 && limit.algorithm().takesHolds();
        }

        boolean isAllowed() {
            return verdict == State.Verdict.GRANTS;
        }

        /** Whether its state is changed, if the decision ends so. */
        boolean isWritten(Result result) {
            return isBlock ? permits > 0 : result == Result.GRANTED;
        }

        /** Whether the state was made for this check, to be put into the table. */
        boolean isNew() {
            return lacksState && state.share != null && !state.isShared();
        }
    }

    private final StateTable table;
    private final List<Charge> charges;
    private final TimeSource time;
    /** Whether a denial counts. */
    private final boolean counts;
    /** Whether an admission takes permits. */
    private final boolean take;
    /** Of a reservation. */
    private final @Nullable HoldTerms terms;

    private final List<Check> checks = new ArrayList<>();
    private final List<LimitOutcome> outcomes = new ArrayList<>();
    /** Limits that had no memory, counted and logged when nothing is locked any more. */
    private final List<LimitName> full = new ArrayList<>(0);
    /** The time of the last attempt. */
    private long now;

    private Transaction(StateTable table, List<Charge> charges, TimeSource time, Mode mode, @Nullable HoldTerms terms) {
        this.table = table;
        this.terms = terms;
        this.charges = charges;
        this.time = time;
        this.counts = mode != Mode.LOOK;
        this.take = mode == Mode.TAKE;
        for (Charge charge : charges) {
            boolean reserves = terms != null && charge.permits() > 0;
            for (Limit limit : charge.policy().limits()) {
                checks.add(new Check(charge.of(limit), limit, table.name(charge.policy(), limit), reserves));
            }
        }
    }

    /** Decides a call, or a reservation with these terms. */
    static Decision decide(
            StateTable table, List<Charge> charges, TimeSource time, Mode mode, @Nullable HoldTerms terms) {
        Transaction call = new Transaction(table, charges, time, mode, terms);
        return Decision.of(Decision.Source.IN_PROCESS, charges, call.decide());
    }

    /** Decides; one outcome for each limit of each charge. */
    private List<LimitOutcome> decide() {
        boolean reclaimed = false;
        while (true) {
            Result result = attempt(false);
            if (result == Result.LACKS_STATES) {
                makeRoom();
                table.states.lock.lock();
                try {
                    result = attempt(true);
                } finally {
                    table.states.lock.unlock();
                }
            }
            if (result == Result.LACKS_MEMORY && !reclaimed) {
                // Nothing was taken: drop full states, and try once more.
                reclaimed = true;
                table.reclaim(now);
            } else if (result != Result.DROPPED) {
                full.forEach(table::countShared);
                return outcomes;
            }
        }
    }

    private void makeRoom() {
        for (Check check : checks) {
            if (check.lacksState) {
                long record = check.isReserved ? HoldSet.STAMPS_A_HOLD : 0;
                table.makeRoom(check.name, StateTable.firstStamps(check.charge.permits(), check.limit) + record, now);
            }
        }
    }

    /** New states are made once all limits allow the call: one that is denied leaves only the count of its denials, for a block. */
    private Result attempt(boolean create) {
        for (Check check : checks) {
            check.state = find(check, create);
        }
        if (create && checks.size() > 1) {
            charges.forEach(this::shareGuard);
        }
        Result result = lockAndDecide(create);
        // Backwards: the state of the first limit is found first, and the others behind it.
        for (int i = checks.size() - 1; i >= 0; i--) {
            Check check = checks.get(i);
            if (check.isNew() && isWritten(check.state, result)) {
                table.keep(check.state, check.limit, now);
            } else if (check.isNew()) {
                check.state.discard();
            } else if (check.lacksState && check.state.isShared() && result.compareTo(Result.LACKS_STATES) < 0) {
                full.add(check.name);
            }
        }
        return result;
    }

    /** Whether the check that found it changes it, or that of another member of the key. Without a stream, for each new key comes here. */
    private boolean isWritten(State state, Result result) {
        for (Check check : checks) {
            if (check.state == state && check.isWritten(result)) {
                return true;
            }
        }
        return false;
    }

    /** The state that decides, which is made if it is to be. */
    private State find(Check check, boolean create) {
        PartitionKey key = check.charge.key();
        check.lacksState = false;
        // A limit of no permits needs no state: it denies all, as a log that can't grow does.
        if (check.limit.permits() == 0) {
            return StateTable.denyingLog(key);
        }
        State own = twin(check);
        if (own == null) {
            own = table.find(check.name, key);
        }
        if (own != null) {
            return own;
        }
        check.lacksState = (check.isBlock ? counts : take)
                && check.charge.permits() > 0
                && check.charge.permits() <= check.limit.capacity();
        State shared = table.findShared(check.name, key, time);
        if (shared != null || !create || !check.lacksState) {
            return shared != null ? shared : table.unused(check.name, key);
        }
        if (!check.isBlock) {
            return table.create(check.name, key, check.charge.permits(), check.limit, now);
        }
        // Keys that share a block would be blocked for the denials of others. The limits go on to deny without it.
        State block = table.createOwn(check.name, key, 0);
        return block != null ? block : table.unused(check.name, key);
    }

    /** The state of one before it that takes of the same: another member of the same key. */
    private @Nullable State twin(Check check) {
        for (Check earlier : checks.subList(0, checks.indexOf(check))) {
            if (earlier.charge.permits() > 0
                    && earlier.charge.key().equals(check.charge.key())
                    && earlier.name.equals(check.name)) {
                return earlier.state;
            }
        }
        return null;
    }

    /** Gives new states of one policy and key one lock: that of an older one, if there is one. */
    private void shareGuard(Charge charge) {
        State guard = null;
        for (Check check : checks) {
            boolean older = check.charge == charge && check.state.name != null && !check.lacksState;
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
            now = time.nowMicros();
            for (Check check : checks) {
                if (check.state.isDropped()) {
                    return Result.DROPPED;
                }
            }
            return decideLocked(create);
        } finally {
            for (State guard : guards) {
                guard.unlock(now);
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

    /** Denies what its limit allows where there is no room for one more hold. */
    private void lookForRoom(Check check) {
        HoldSet holds = check.isReserved && check.isAllowed() ? check.state.reserved : null;
        check.waitForRoom =
                holds == null ? 0 : holds.waitForRoom(check.charge.policy().holds(), now);
        check.verdict = check.waitForRoom == 0 ? check.verdict : State.Verdict.DENIES;
    }

    private LimitOutcome answer(Check check, boolean granted) {
        Charge charge = check.charge;
        if (granted && terms != null && check.isReserved) {
            LimitOutcome held = HoldSet.reserve(check.state, charge, check.limit, terms, now);
            if (held.stampMicros() == HoldSet.UNRECORDED && !check.state.isShared()) {
                full.add(check.name);
            }
            return held;
        }
        // Earlier charges have taken their permits by now.
        long permits = granted ? charge.permits() : check.permits;
        boolean isFull = check.waitForRoom > 0;
        LimitOutcome answer = check.state.answer(
                charge, check.limit, permits, now, check.isAllowed() || isFull, granted, granted ? take : counts);
        return isFull ? HoldSet.with(answer, false, check.waitForRoom, LimitOutcome.HOLDS_FULL) : answer;
    }

    private Result decideLocked(boolean create) {
        boolean granted = true;
        boolean lacksMemory = false;
        boolean isCounted = false;
        for (int i = 0; i < checks.size(); i++) {
            Check check = checks.get(i);
            // A block, the last limit of its charge, counts that one before it denies; not for want of memory, nor
            // calls in flight.
            isCounted &= checks.get(Math.max(0, i - 1)).charge == check.charge;
            check.permits = !check.isBlock ? check.charge.permits() : isCounted && counts ? 1 : 0;
            long all = check.permits;
            for (Check earlier : checks.subList(0, i)) {
                if (earlier.state == check.state) {
                    all += check.isBlock ? earlier.permits : earlier.state.wanted(earlier.charge, earlier.limit, now);
                }
            }
            if (counts && check.charge.permits() > 0) {
                check.state.tidy(now);
            }
            check.verdict = check.state.check(check.charge, check.limit, all, now, take);
            // Each of several counts its own denial.
            check.permits = check.isBlock ? check.permits : all;
            lookForRoom(check);
            granted &= check.isAllowed();
            isCounted |= check.verdict == State.Verdict.DENIES
                    && !check.limit.algorithm().isInFlight();
            lacksMemory |= check.verdict == State.Verdict.LACKS_MEMORY;
        }
        Result result = granted ? Result.GRANTED : lacksMemory ? Result.LACKS_MEMORY : Result.DENIED;
        for (Check check : checks) {
            if (!create && check.lacksState && isWritten(check.state, result)) {
                return Result.LACKS_STATES;
            }
        }
        outcomes.clear();
        for (Check check : checks) {
            outcomes.add(answer(check, granted));
        }
        return result;
    }
}
