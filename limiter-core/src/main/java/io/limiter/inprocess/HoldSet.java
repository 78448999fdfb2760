package io.limiter.inprocess;

import io.limiter.Backend.Settled;
import io.limiter.Charge;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.internal.Algorithm;
import io.limiter.internal.HoldTerms;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The reservations of one fixed window or token bucket: a record of each by its id; those that are open in the order of their ends, and
 * those that were found to have run out, which are marked, in the order in which they may be forgotten. The twin of holds.lua. Guarded by
 * the lock of the state.
 */
final class HoldSet {
    /** The memory of a record, as a number of timestamps of 8 bytes. */
    static final long STAMPS_A_HOLD = 25;

    /** The timestamp of a reservation that has no record, because memory lacks: it was taken as by a call. */
    static final long UNRECORDED = -1;

    /** How many records one call gives back, or forgets, at most. */
    private static final int PORTION = 50;

    private static final class Hold implements Comparable<Hold> {
        final long id;
        final long permits;
        final long ttl;
        final long keep;
        /** The end of the window in which it was counted, as it was stored then; 0 in a bucket. */
        final long window;
        /** When it runs out; once it is marked, until when it is kept. Not changed while it is in its order. */
        long end;

        boolean isMarked;

        Hold(long id, long permits, HoldTerms terms, long window) {
            this.id = id;
            this.permits = permits;
            this.ttl = terms.ttlMicros();
            this.keep = terms.keepMicros();
            this.window = window;
        }

        /** Neither over nor of a clock that stepped back. */
        boolean isInTime(long now) {
            return end > now && end <= now + ttl;
        }

        @Override
        public int compareTo(Hold other) {
            int order = Long.compare(end, other.end);
            return order != 0 ? order : Long.compareUnsigned(id, other.id);
        }
    }

    private final Capacity.Share stamps;
    private final Map<Long, Hold> byId = new HashMap<>(2);
    private final TreeSet<Hold> open = new TreeSet<>();
    private final TreeSet<Hold> marked = new TreeSet<>();
    private long held;
    private long lastKept;

    private HoldSet(Capacity.Share stamps) {
        this.stamps = stamps;
    }

    /** The permits that are held: of all that are open, also of those that have run out and are not found yet. */
    long held() {
        return held;
    }

    /** A time at which no record needs to be kept any more. */
    long lastKept() {
        return byId.isEmpty() ? Long.MIN_VALUE : lastKept;
    }

    /** The last end of those that are open; now if none is, or it is past. */
    long lastEnd(long now) {
        return open.isEmpty() ? now : Math.max(now, open.last().end);
    }

    /** Gives back what has run out, and marks it: a portion, the oldest first. No end is later than a clock that stepped back allows. */
    void tidy(State state, long now) {
        if (open.isEmpty() || open.first().isInTime(now)) {
            return;
        }
        List<Hold> oldest = open.stream().limit(PORTION).toList();
        for (Hold hold : oldest) {
            if (hold.isInTime(now)) {
                return;
            }
            open.remove(hold);
            if (hold.end > now) {
                place(hold, now + hold.ttl);
                continue;
            }
            held -= hold.permits;
            state.free(hold.permits, hold.window, now);
            hold.isMarked = true;
            if (hold.end + hold.keep > now) {
                place(hold, hold.end + hold.keep);
            } else {
                forget(hold);
            }
        }
    }

    private void place(Hold hold, long end) {
        hold.end = end;
        (hold.isMarked ? marked : open).add(hold);
        lastKept = Math.max(lastKept, end + (hold.isMarked ? 0 : hold.keep));
    }

    private void forget(Hold hold) {
        byId.remove(hold.id);
        stamps.change(-STAMPS_A_HOLD);
    }

    /** Forgets marked ones that need not be kept any more: a portion, the oldest first. */
    private void forgetOld(long now) {
        for (int i = 0; i < PORTION && !marked.isEmpty() && marked.first().end <= now; i++) {
            forget(marked.pollFirst());
        }
    }

    /** How long until there is room for one more than these; 0 if now. */
    long waitForRoom(int most, long now) {
        if (byId.size() >= most) {
            forgetOld(now);
        }
        if (byId.size() < most) {
            return 0;
        }
        long room = marked.isEmpty() ? open.first().end + open.first().keep : marked.first().end;
        return Math.max(1, room - now);
    }

    /** Returns the memory: nobody asks it any more. */
    void release() {
        stamps.change(-STAMPS_A_HOLD * byId.size());
    }

    /** Answers a reservation that is granted. Where memory lacks for its record, it is a plain call. */
    static LimitOutcome reserve(State state, Charge charge, Limit limit, HoldTerms terms, long now) {
        long n = charge.permits();
        HoldSet holds = withMemory(state, now);
        if (holds == null) {
            return with(state.answer(charge, limit, n, now, true, true, true), true, 0, UNRECORDED);
        }
        // A bucket keeps what is held beside it: nothing is taken from it.
        boolean isBucket = limit.algorithm() == Algorithm.TOKEN_BUCKET;
        long window = isBucket
                ? 0
                : state.answer(charge, limit, n, now, true, true, true).stampMicros();
        long id = Long.parseUnsignedLong(terms.id(), 16);
        Hold hold = new Hold(id, n, terms, window);
        holds.byId.put(id, hold);
        holds.place(hold, now + hold.ttl);
        holds.held += n;
        return with(state.answer(charge, limit, n, now, true, false, true), true, 0, window);
    }

    /** Those of a state, with memory for one more that is taken; null if there is none, or it is a state that keys share. */
    private static @Nullable HoldSet withMemory(State state, long now) {
        if (state.share == null || state.isShared()) {
            return null;
        }
        HoldSet holds = state.reserved == null ? new HoldSet(state.share.stamps()) : state.reserved;
        if (!holds.stamps.take(STAMPS_A_HOLD)) {
            holds.forgetOld(now);
            if (!holds.stamps.take(STAMPS_A_HOLD)) {
                return null;
            }
        }
        state.reserved = holds;
        return holds;
    }

    /** The answer of a state, changed to what the reservation makes of it. */
    static LimitOutcome with(LimitOutcome answer, boolean allowed, long retryAfterMicros, long stamp) {
        return LimitOutcome.of(
                answer.charge(),
                answer.limit(),
                allowed,
                answer.remaining(),
                retryAfterMicros,
                answer.nextMicros(),
                answer.resetMicros(),
                stamp);
    }

    /** Charges what a reservation has cost instead of what it held: at most the capacity above that, and no debt above the capacity. */
    static Settled settle(State state, Charge charge, Limit limit, long stamp, String id, long actual, long now) {
        HoldSet holds = state.reserved;
        boolean freed = false;
        long base = 0;
        long excess = Math.max(0, actual - charge.permits());
        if (holds != null) {
            holds.tidy(state, now);
        }
        if (stamp != UNRECORDED) {
            Hold hold = holds == null ? null : holds.byId.get(Long.parseUnsignedLong(id, 16));
            if (holds == null || hold == null) {
                state.force(limit, 0, false, now);
                return new Settled(Settlement.ENDED, 0);
            }
            (hold.isMarked ? holds.marked : holds.open).remove(hold);
            holds.forget(hold);
            if (hold.isMarked) {
                excess = actual;
            } else {
                holds.held -= hold.permits;
                freed = state.free(hold.permits, hold.window, now);
                base = freed ? Math.min(actual, hold.permits) : 0;
            }
        }
        long charged = state.force(limit, base + Math.min(excess, limit.capacity()), freed, now);
        return new Settled(Settlement.SETTLED, base + excess - charged);
    }

    /** The same where no state is left: what a plain call took counts no more, and what it has cost above is forgotten. */
    static Settled settleNothing(Charge charge, long stamp, long actual) {
        return stamp == UNRECORDED
                ? new Settled(Settlement.SETTLED, Math.max(0, actual - charge.permits()))
                : new Settled(Settlement.ENDED, 0);
    }
}
