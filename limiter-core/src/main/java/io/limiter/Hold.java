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
}
