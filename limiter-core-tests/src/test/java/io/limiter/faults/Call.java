package io.limiter.faults;

import io.limiter.Charge;
import io.limiter.Decision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The call of one caller, and its answer.
 *
 * @param kind what the call is for
 * @param charges what it cost
 * @param startNanos when it began
 * @param tookNanos how long it took
 * @param decision the answer; null where an exception came instead
 * @param failure that exception; null where an answer came
 */
record Call(
        Kind kind,
        List<Charge> charges,
        long startNanos,
        long tookNanos,
        @Nullable Decision decision,
        @Nullable Throwable failure) {
    /** What calls are for. */
    enum Kind {
        /** The only call of its key: what Redis holds of the key is what it did with this call. */
        ONCE,
        /** Two charges of which each is the only one of its key. */
        PAIR,
        /** Many calls on one key, and a limit that is never reached. */
        HOT,
        /** Many calls on one key, more than its limit. */
        NARROW,
        /** A call on a key that was used up and denied, and reset since, by this instance or long enough ago by the other. */
        AGAIN,
        /** Many calls on one key that too many denials block. */
        BLOCKED
    }

    /** Whether it was denied from memory although its key was reset. */
    boolean isStale() {
        return kind == Kind.AGAIN && decision != null && decision.source() == Decision.Source.CACHED_DENIAL;
    }

    /** Whether Redis decided, now or by a denial that still holds. */
    boolean isByRedis() {
        return decision != null && decision.source().isExact();
    }

    boolean isAllowed() {
        return decision != null && decision.allowed();
    }

    /** Whether it passed although nobody counted it. */
    boolean isUncounted() {
        return decision != null && decision.source() == Decision.Source.FAILED_OPEN && decision.allowed();
    }
}
