package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor.FlightCount;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.Access;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Throttle;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The calls in flight of a limiter: counts their permits by policy, and ends them. Thread-safe. */
final class Flights {
    private static final Logger LOG = DiagnosticLog.of(Flights.class);

    private final Backend backend;
    private final WaitQueues waiting;
    private final Function<Policy, CallCounts> counts;
    private final Throttle warnings = new Throttle(TimeSource.system()::nowMicros, 60_000_000);

    /**
     * @param waiting the calls that may continue when one ends
     * @param counts those of a policy
     */
    Flights(Backend backend, WaitQueues waiting, Function<Policy, CallCounts> counts) {
        this.counts = counts;
        this.backend = backend;
        this.waiting = waiting;
        backend.onHeldAgain(this::heldAgain);
    }

    private void heldAgain(Policy policy, long permits, long above) {
        CallCounts mine = counts.apply(policy);
        int lost = CallCounts.number(FlightCount.LOST);
        int overrun = CallCounts.number(FlightCount.OVERRUN);
        mine.add(lost, permits);
        mine.add(overrun, above);
        if (warnings.tryPass()) {
            LOG.warn(
                    "RL-416 policy '{}': Redis had lost {} permits of calls that are in flight here, and holds them again, {}"
                            + " of them above the limit; so far {} and {}; logged again in 60 s at the earliest",
                    policy.name(),
                    permits,
                    above,
                    mine.sum(lost),
                    mine.sum(overrun));
        }
    }

    /** Refuses a request whose permits nobody would give back. */
    static PermitRequest checked(PermitRequest request) {
        if (!request.hasEnd() && request.mode() == Backend.Mode.TAKE) {
            request.charges().forEach(Flights::check);
        }
        return request;
    }

    /** Refuses a charge whose permits nobody would give back. */
    static void check(Charge charge) {
        if (charge.policy().isInFlight() && charge.permits() > 0) {
            throw new IllegalArgumentException("policy '" + charge.policy().name()
                    + "' limits calls in flight, whose permits are held until the call ends; call enter(...) and close what"
                    + " it returns");
        }
    }

    /** Undoes what is granted to a caller that has cancelled: nobody else knows of it. Returns what the caller gets. */
    static <T> CompletableFuture<T> orUndone(
            CompletableFuture<T> told, CompletableFuture<T> answer, Consumer<? super T> undo) {
        told.exceptionally(cancelled -> {
            answer.thenAccept(undo);
            return null;
        });
        return told;
    }

    /** Counts what a decision, and what shadows beside it, holds. */
    void begin(Decision decision) {
        Decision aside = decision.shadow(Access.LIBRARY);
        if (aside != null) {
            begin(aside);
        }
        for (LimitOutcome outcome : decision.each(Access.LIBRARY)) {
            if (decision.allowed() && outcome.isInFlight() && isCounted(outcome)) {
                counts.apply(outcome.policy()).add(CallCounts.IN_FLIGHT, outcome.permits());
            }
        }
        if (decision.allowed() && decision.source() == Decision.Source.LOCAL_FALLBACK) {
            backend.adopt(decision);
        }
    }

    /** Once for each charge, however many such limits its policy has. */
    private static boolean isCounted(LimitOutcome outcome) {
        return outcome.limit().equals(outcome.policy().limits().get(0));
    }

    /** Ends what a decision, and what shadows beside it, holds. Never fails. */
    void end(Decision decision) {
        end(decision, null);
    }

    /** @param known the counts of its policy; null for several policies */
    void end(Decision decision, @Nullable CallCounts known) {
        Decision aside = decision.shadow(Access.LIBRARY);
        if (aside != null) {
            end(aside);
        }
        for (LimitOutcome outcome : decision.each(Access.LIBRARY)) {
            if (decision.allowed() && outcome.isInFlight()) {
                end(outcome, known == null ? counts.apply(outcome.policy()) : known);
            }
        }
    }

    /** Ends what an outcome holds; false if it has ended, or holds nothing. */
    boolean end(LimitOutcome outcome) {
        return end(outcome, counts.apply(outcome.policy()));
    }

    private boolean end(LimitOutcome outcome, CallCounts mine) {
        // Before the end, so that their memory is read while that waits for the lock.
        long[] row = mine.ofThisThread();
        LimitOutcome.Holder holder = outcome.holder(Access.LIBRARY);
        boolean first = true;
        try {
            first = holder == null ? outcome.claimEnd(Access.LIBRARY) : holder.end(outcome);
        } catch (RuntimeException failed) {
            LOG.debug("a call could not be ended", failed);
        }
        if (first) {
            mine.add(row, CallCounts.IN_FLIGHT, isCounted(outcome) ? -outcome.permits() : 0);
            // Without waiting for the answer: calls that ask later are decided after this end.
            waiting.wake(outcome);
        }
        return first;
    }
}
