package io.limiter.history;

import io.limiter.Limit;
import org.jspecify.annotations.Nullable;

/**
 * One call as its caller saw it. What it did happened at some moment between its start and its end.
 *
 * @param kind what was asked
 * @param instance which of the instances was asked
 * @param limit the only limit of its policy
 * @param client whose quota
 * @param permits its cost
 * @param startNanos when it was made
 * @param endNanos when it was answered
 * @param answer what came of it
 * @param of the take that a refund gives back; null otherwise
 */
record Event(
        Kind kind,
        int instance,
        Limit limit,
        String client,
        long permits,
        long startNanos,
        long endNanos,
        Answer answer,
        @Nullable Event of) {
    /** What was asked. */
    enum Kind {
        TAKE,
        REFUND,
        RESET
    }

    /** What came of it. */
    enum Answer {
        /** Allowed, given back, forgotten. */
        DONE,
        /** Denied by Redis, or nothing given back. */
        DENIED,
        /** Denied from memory. */
        REMEMBERED,
        /** Nobody knows. */
        UNKNOWN
    }

    boolean isTake(Answer wanted) {
        return kind == Kind.TAKE && answer == wanted;
    }

    /** Whether it is a denial that must be justified. */
    boolean isDenial() {
        return isTake(Answer.DENIED) || isTake(Answer.REMEMBERED);
    }
}
