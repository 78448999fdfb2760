package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.internal.Access;
import io.limiter.internal.DiagnosticLog;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The calls in flight of a limiter: counts their permits by policy, and ends them. Thread-safe. */
final class Flights {
    private static final Logger LOG = DiagnosticLog.of(Flights.class);

    private final Backend backend;
    private final @Nullable Backend fallback;
    private final WaitQueues waiting;
    private final Function<Policy, CallCounts> counts;

    /**
     * @param waiting the calls that may continue when one ends
     * @param counts those of a policy
     */
    Flights(Backend backend, @Nullable Backend fallback, WaitQueues waiting, Function<Policy, CallCounts> counts) {
        this.counts = counts;
        this.backend = backend;
        this.fallback = fallback;
        this.waiting = waiting;
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

    /** Counts what a decision, and what shadows beside it, holds. */
    void begin(Decision decision) {
        Decision aside = decision.shadow(Access.LIBRARY);
        if (aside != null) {
            begin(aside);
        }
        if (decision.allowed()) {
            if (!decision.outcomes().isEmpty()) {
                decision.charges().forEach(charge -> count(charge, charge.permits()));
            }
            if (decision.source() == Decision.Source.LOCAL_FALLBACK) {
                backend.adopt(decision);
            }
        }
    }

    private void count(Charge charge, long permits) {
        if (charge.policy().isInFlight()) {
            counts.apply(charge.policy()).add(CallCounts.IN_FLIGHT, permits);
        }
    }

    /** Ends what a decision, and what shadows beside it, holds. Never fails. */
    void end(Decision decision) {
        Decision aside = decision.shadow(Access.LIBRARY);
        if (aside != null) {
            end(aside);
        }
        if (decision.allowed()) {
            for (LimitOutcome outcome : decision.outcomes()) {
                if (claim(outcome)) {
                    end(outcome, decision.source());
                }
            }
        }
    }

    /** Claims the one end of what an outcome holds. */
    boolean claim(LimitOutcome outcome) {
        boolean first = outcome.isInFlight() && outcome.claimEnd(Access.LIBRARY);
        // Once for each charge, however many such limits its policy has.
        if (first && outcome.limit().equals(outcome.policy().limits().get(0))) {
            count(outcome.charge(), -outcome.charge().permits());
        }
        return first;
    }

    private void end(LimitOutcome outcome, Decision.Source source) {
        if (source == Decision.Source.LOCAL_FALLBACK && fallback != null) {
            end(outcome, fallback);
        }
        end(outcome, backend);
    }

    private void end(LimitOutcome outcome, Backend holder) {
        try {
            holder.end(outcome);
            // Without waiting for the answer: calls that ask later are decided after this end.
            waiting.wake(outcome);
        } catch (RuntimeException failed) {
            LOG.debug("a call could not be ended", failed);
        }
    }
}
