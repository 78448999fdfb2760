package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import org.jspecify.annotations.Nullable;

/**
 * One limit's part of one decision: what is asked, then what the state answered. Belongs to one thread. A limit of 0
 * permits is answered here and has no state.
 */
final class Ask {
    final Charge charge;
    final Limit limit;
    final long now;
    final boolean take;

    /** Permits that earlier asks of the same decision want from the same state (an overflow state that two keys share). */
    long earlier;

    @Nullable
    State state;

    boolean allowed;
    long retryAfter;
    long remaining;
    long next;
    long reset;
    long stamp;

    /** Fixed window: the count. Bucket: the credit. Log: how many stamps have expired. */
    long level;
    /** Bucket: a full one, a permit, and what a microsecond brings, all in parts of a permit. */
    long full;

    long parts;
    long rate;
    /** Bucket: what is stored under another limit than the present one, until a call writes it anew. */
    @Nullable
    Object pending;
    /** Bucket: the time from which on it refills. */
    long from;
    /** Fixed window: the window's end. Log: the live stamps before this call. */
    long end;
    /** What is stored has been made to fit the present clock and limit, so the present limit's times hold from now on. */
    boolean written;

    /** Log: the call's request id is in it. */
    boolean repeated;
    /** Log: stamps that count. */
    long live;

    Ask(Charge charge, Limit limit, long now, boolean take) {
        this.charge = charge;
        this.limit = limit;
        this.now = now;
        this.take = take;
    }

    /** The shared states of which one decides this ask. */
    @Nullable
    Overflow entered;

    /** The key has no state of its own: {@link #state} takes its place. */
    boolean missing;

    /** One of several asks: a state that is made for it is kept only if all allow. */
    boolean together;

    /** The state was made for this ask. */
    boolean created;

    /** It took its permits. */
    boolean charged;

    /** A log would have allowed it but could not grow. */
    boolean noRoom;

    /** Room was made for it once. */
    boolean reclaimed;

    /** Lets the shared states know that this ask is decided, or asks elsewhere. */
    void leave() {
        if (entered != null) {
            entered.leave(this);
            entered = null;
        }
    }

    /** Whether this call asks for permits, and not only what would be answered. */
    boolean takes() {
        return take && charge.permits() > 0;
    }

    /** Asks for more than the limit ever holds. */
    boolean neverFits() {
        return permits() > limit.capacity();
    }

    boolean denyAll() {
        return limit.permits() == 0;
    }

    /** Permits asked, with those of earlier asks on the same state. */
    long permits() {
        return charge.permits() + earlier;
    }

    void answerDenyAll() {
        allowed = charge.permits() == 0;
        retryAfter = allowed ? 0 : LimitOutcome.NEVER;
        stamp = now;
    }

    LimitOutcome outcome() {
        return new LimitOutcome(charge, limit, allowed, remaining, retryAfter, next, reset, stamp);
    }

    /** Division of numbers below 2^53, rounded up. */
    static long ceilDiv(long dividend, long divisor) {
        return (dividend + divisor - 1) / divisor;
    }
}
