package io.limiter.inprocess;

import io.limiter.Backend.Settled;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Settlement;
import io.limiter.TimeSource;
import io.limiter.inprocess.HoldRecords.Hold;
import io.limiter.internal.HoldTerms;
import java.util.List;

/**
 * The state of a limit whose permits can be reserved: that of its algorithm, and a record of each reservation. In the state of the algorithm
 * a reservation is a charge as any other. The twin of holds.lua.
 *
 * <p>What has run out is given back by the next call that may write, with the meaning as if at once; until then others answer as if
 * it had been.
 *
 * @param <S> the state of the algorithm, which is locked with this
 */
abstract class HeldState<S extends State> extends State {
    /** The memory of a record, as a number of timestamps of 8 bytes. */
    static final long STAMPS_A_HOLD = 25;

    /** How long a key waits for memory. */
    private static final long PAUSE_MICROS = 1_000_000;

    final S state;
    private final Capacity.Share stamps;
    HoldRecords records = new HoldRecords();

    HeldState(S state, Capacity.Share stamps) {
        super(state.key);
        this.state = state;
        this.stamps = stamps;
    }

    /** The state as it is once what has run out is given back; the state itself if that is to be written. */
    abstract S settled(Limit limit, long now, boolean write);

    /** The permits that count now, with those that are held. */
    abstract long counted(Limit limit, long now);

    /** How long a bucket did not refill because it was full but for what is held. */
    long idleMicros(long now) {
        return 0;
    }

    /** For how many more permits there is memory. */
    long room(Limit limit, long permits, long now) {
        return permits;
    }

    /** Takes for a hold, or what a settlement charges without asking. */
    LimitOutcome force(Charge charge, Limit limit, long now, boolean isHold) {
        return state.answer(charge, limit, charge.permits(), now, true, true, true);
    }

    /** Gives back what an open hold took, above its actual cost. */
    void close(Charge charge, Hold hold, long cost, Limit limit, long now) {
        if (cost < hold.permits) {
            giveBack(of(charge, hold.permits - cost), limit, hold.stamp, now);
        }
    }

    /** The answer of the state without what has run out. */
    LimitOutcome answerOf(
            S settled,
            Charge charge,
            Limit limit,
            long permits,
            long now,
            boolean allowed,
            boolean granted,
            boolean take) {
        return settled.answer(charge, limit, permits, now, allowed, granted, take);
    }

    private static Charge of(Charge charge, long permits) {
        return new Charge(charge.policy(), charge.key(), permits);
    }

    @Override
    Verdict check(Charge charge, Limit limit, long permits, long now, boolean take) {
        return settled(limit, now, take && charge.permits() > 0).check(charge, limit, permits, now, take);
    }

    @Override
    LimitOutcome answer(
            Charge charge, Limit limit, long permits, long now, boolean allowed, boolean granted, boolean take) {
        S settled = settled(limit, now, take && charge.permits() > 0);
        return answerOf(settled, charge, limit, permits, now, allowed, granted, take);
    }

    @Override
    boolean giveBack(Charge charge, Limit limit, long stamp, long now) {
        return settled(limit, now, true).giveBack(charge, limit, stamp, now);
    }

    /** How long until one more may be kept; 0 if now, {@link LimitOutcome#NEVER} if only memory lacks. */
    final long waitForRoom(int most, long now) {
        if (records.size() >= most || !stamps.hasLeft(STAMPS_A_HOLD)) {
            stamps.change(-STAMPS_A_HOLD * records.purge(now));
        }
        return records.size() >= most
                ? records.firstKept() - now
                : stamps.hasLeft(STAMPS_A_HOLD) ? 0 : LimitOutcome.NEVER;
    }

    /** Whether there are records. */
    final boolean isKept(long now) {
        return records.lastKept() > now;
    }

    /** Answers a reservation that is granted. */
    final LimitOutcome reserve(Charge charge, Limit limit, HoldTerms terms, long now) {
        settled(limit, now, true);
        long end = records.freeEnd(now + terms.ttlMicros());
        long idle = idleMicros(now);
        records.add(new Hold(end, force(charge, limit, now, true), terms, idle));
        stamps.change(STAMPS_A_HOLD);
        // Answers again: the hold counts now.
        LimitOutcome rest = answer(of(charge, 0), limit, 0, now, true, true, false);
        return LimitOutcome.of(charge, limit, true, rest.remaining(), 0, rest.nextMicros(), rest.resetMicros(), end);
    }

    /**
     * Answers a reservation that is denied, perhaps for want of room alone.
     *
     * @param allowed whether the limit allows it
     * @param wait what {@link #waitForRoom} says
     */
    final LimitOutcome deny(
            Charge charge, Limit limit, long permits, long now, boolean allowed, long wait, boolean take) {
        LimitOutcome rest = answer(charge, limit, permits, now, allowed, false, take);
        if (wait == 0 || !allowed && rest.retryAfterMicros() == LimitOutcome.NEVER) {
            return rest;
        }
        long longer = Math.max(rest.retryAfterMicros(), wait == LimitOutcome.NEVER ? PAUSE_MICROS : wait);
        long reason = allowed ? LimitOutcome.HOLDS_FULL : 0;
        return LimitOutcome.of(
                charge, limit, false, rest.remaining(), longer, rest.nextMicros(), rest.resetMicros(), reason);
    }

    /** Settles the reservation with that end. */
    final Settled settle(Charge charge, Limit limit, long end, String id, long cost, TimeSource time) {
        long now = time.nowMicros();
        int last = lock();
        try {
            now = timeOfHolder(now, last, time);
            Hold hold = records.find(end, id, now);
            return hold == null || hold.isSettled
                    ? new Settled(Settlement.ENDED, 0)
                    : settle(charge, limit, hold, cost, now);
        } finally {
            unlock(now);
        }
    }

    private Settled settle(Charge charge, Limit limit, Hold hold, long cost, long now) {
        settled(limit, now, true);
        boolean isOpen = records.end(hold);
        if (isOpen) {
            close(charge, hold, Math.min(cost, hold.permits), limit, now);
        }
        records.settled(hold, now);
        long excess = Math.max(0, isOpen ? cost - hold.permits : cost);
        long most = limit.spec().capacity();
        long owed = Math.min(Math.min(excess, most), Math.max(0, 2 * most - counted(limit, now)));
        long charged = room(limit, owed, now);
        if (charged > 0) {
            force(of(charge, charged), limit, now, false);
        }
        return new Settled(Settlement.SETTLED, excess - charged);
    }

    /** The holds that have run out; they are no longer open if that is to be written. */
    final List<Hold> runOut(long now, boolean write) {
        return write ? records.endRunOut(now) : records.runOut(now);
    }

    @Override
    void clear() {
        state.clear();
        records.endAll();
    }

    @Override
    void forget() {
        state.clear();
        stamps.change(-STAMPS_A_HOLD * records.size());
        records = new HoldRecords();
    }

    @Override
    long fullAtMicros() {
        return Math.max(state.fullAtMicros(), records.lastKept());
    }
}
