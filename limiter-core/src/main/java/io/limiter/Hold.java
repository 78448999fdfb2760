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
    private final AtomicBoolean refunded = new AtomicBoolean();

    /**
     * For this library.
     *
     * @param announced the policies that were in force when it was made
     */
    public Hold(Access library, Decision decision, HoldTerms terms, List<Policy> announced) {
        Objects.requireNonNull(library, "library");
        this.decision = Objects.requireNonNull(decision, "decision");
        this.terms = Objects.requireNonNull(terms, "terms");
        this.announced = List.copyOf(announced);
    }

    /** The answer. It can't be refunded: settle the hold. */
    public Decision decision() {
        return decision;
    }

    /** Whether the permits were taken. */
    public boolean allowed() {
        return decision.allowed();
    }

    /** Claims the only refund of what was taken beside it. For this library. */
    public boolean claimRefund(Access library) {
        Objects.requireNonNull(library, "library");
        return refunded.compareAndSet(false, true);
    }

    /** Its terms. For this library. */
    public HoldTerms terms(Access library) {
        Objects.requireNonNull(library, "library");
        return terms;
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
