package io.limiter;

import io.limiter.internal.Access;
import io.limiter.internal.HoldTerms;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A reservation: permits that were taken for a call whose cost is known later. It ends when it is {@linkplain
 * RateLimiter#settle settled} or {@linkplain RateLimiter#cancel cancelled} by the limiter that made it, or by itself. Thread-safe.
 */
public final class Hold {
    private final Decision decision;
    private final HoldTerms terms;
    private final List<Policy> announced;
    private final long keptUntilMicros;
    private final AtomicBoolean settled = new AtomicBoolean();

    /**
     * For this library.
     *
     * @param announced the policies that were in force when it was made
     * @param keptUntilMicros until when its record is kept, on the clock of the limiter
     */
    public Hold(Access library, Decision decision, HoldTerms terms, List<Policy> announced, long keptUntilMicros) {
        Objects.requireNonNull(library, "library");
        this.decision = Objects.requireNonNull(decision, "decision");
        this.terms = Objects.requireNonNull(terms, "terms");
        this.announced = List.copyOf(announced);
        this.keptUntilMicros = keptUntilMicros;
    }

    /** The answer. It can't be refunded: settle the hold. */
    public Decision decision() {
        return decision;
    }

    /** Whether the permits were taken. */
    public boolean allowed() {
        return decision.allowed();
    }

    /** Claims the only settlement. For this library. */
    public boolean claimSettlement(Access library) {
        Objects.requireNonNull(library, "library");
        return settled.compareAndSet(false, true);
    }

    /** Its terms. For this library. */
    public HoldTerms terms(Access library) {
        Objects.requireNonNull(library, "library");
        return terms;
    }

    /** Until when its record is kept, on the clock of the limiter. For this library. */
    public long keptUntilMicros(Access library) {
        Objects.requireNonNull(library, "library");
        return keptUntilMicros;
    }

    /** Whether this policy was in force as such, not one made for the key or the tenant. For this library. */
    public boolean wasAnnounced(Access library, Policy policy) {
        Objects.requireNonNull(library, "library");
        return announced.contains(policy);
    }

    @Override
    public String toString() {
        return "Hold[" + decision + "]";
    }
}
