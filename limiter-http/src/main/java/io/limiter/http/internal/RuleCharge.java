package io.limiter.http.internal;

import io.limiter.Charge;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a rule charges a request that it counts. Nothing is recorded yet.
 *
 * @param identity of the rule, the same in each configuration that has it
 * @param outcomes which responses keep the charge
 * @param maxWait how long the request may wait if a limit denies the charge; null for a rule in code, which leaves that
 *     to the others
 * @param charge null as long as it is pending
 * @param pending how it gets its policy; null if it has it
 */
record RuleCharge(
        Object identity,
        boolean isShadow,
        RuleOutcomes outcomes,
        @Nullable Duration maxWait,
        @Nullable Charge charge,
        @Nullable Pending pending) {
    /**
     * A charge that depends on a plan, which is looked up first.
     *
     * @param lookup begins the lookup; its result never completes exceptionally
     * @param charge makes the charge when the lookup has ended; null if it can't be made
     */
    record Pending(Supplier<CompletableFuture<?>> lookup, Supplier<@Nullable Charge> charge) {}

    /** The charge; waits for its plan. */
    @Nullable
    Charge join() {
        if (pending == null) {
            return charge;
        }
        pending.lookup.get().join();
        return pending.charge.get();
    }

    /** The same with a charge that was pending. */
    RuleCharge withCharge(@Nullable Charge known) {
        return new RuleCharge(identity, isShadow, outcomes, maxWait, known, null);
    }
}
