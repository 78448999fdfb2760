package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.internal.Algorithm;

/** One limit of one charge, as a {@link Transaction} decides it. Used by one thread. */
final class Check {
    final Charge charge;
    final Limit limit;
    final LimitStates.Name name;

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
    Check(Charge charge, Limit limit) {
        this.charge = charge;
        this.limit = limit;
        this.name = LimitStates.Name.of(charge.policy(), limit);
    }

    boolean isAllowed() {
        return verdict == State.Verdict.GRANTS;
    }

    /** Whether a reservation keeps a record in its state. */
    boolean isReservable() {
        return charge.policy().holds() > 0 && limit.spec().algorithm().takesHolds();
    }

    boolean isBlock() {
        return limit.spec().algorithm() == Algorithm.BLOCK;
    }

    /** Whether its state is changed, if the decision ends so. */
    boolean isWritten(Transaction.Result result) {
        return isBlock() ? permits > 0 : result == Transaction.Result.GRANTED;
    }

    /** A state that took nothing. */
    State ofNobody(WallClock clock) {
        return States.of(limit.spec().algorithm(), charge.key(), clock, Capacity.UNLIMITED);
    }

    /** The number of timestamps for which a new state needs memory. */
    long firstStamps() {
        return States.firstStamps(charge.permits(), limit);
    }

    /** Whether the state was made for this check, to be put into the table. */
    boolean isNew() {
        return lacksState && state.limit != null;
    }
}
