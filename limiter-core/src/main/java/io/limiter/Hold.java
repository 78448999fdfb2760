package io.limiter;

import io.limiter.internal.Access;
import java.util.Objects;

/**
 * A reservation: permits that were taken for a call whose cost is known later. It ends when it is {@linkplain
 * RateLimiter#settle settled} or {@linkplain RateLimiter#cancel cancelled} by the limiter that made it, or by itself. Only this library
 * extends it. Thread-safe.
 */
public abstract class Hold {
    private final Decision decision;

    /** For this library. */
    protected Hold(Access library, Decision decision) {
        Objects.requireNonNull(library, "library");
        this.decision = Objects.requireNonNull(decision, "decision");
    }

    /** The answer. It can't be refunded: settle the hold. */
    public Decision decision() {
        return decision;
    }

    /** Whether the permits were taken. */
    public boolean allowed() {
        return decision.allowed();
    }

    @Override
    public String toString() {
        return "Hold[" + decision + "]";
    }

    /**
     * What became of a settlement. Of several parts (limits, or charges in several slots of a cluster) the worst counts: these are
     * in that order, the worst is the last.
     */
    public enum Settlement {
        /** The actual cost is charged; also after the hold has ended by itself. */
        SETTLED,
        /** The actual cost is not in 0 to 2<sup>31</sup>-1: the estimate stays charged. */
        IGNORED,
        /** The backend has not answered: the settlement is tried again in the background until the record of the hold ends. */
        PENDING,
        /** Nothing happened: it was settled, cancelled, reset, or its record is not kept any more; or Redis refused it with an error. */
        ENDED;

        /** The worse of two. */
        public Settlement worse(Settlement other) {
            return compareTo(other) >= 0 ? this : other;
        }
    }
}
