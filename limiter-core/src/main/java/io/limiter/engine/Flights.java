package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor;
import io.limiter.PermitRequest;
import io.limiter.internal.Access;
import io.limiter.internal.DiagnosticLog;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The calls in flight of a limiter: counts their permits by policy, and ends them. Thread-safe. */
final class Flights {
    private static final Logger LOG = DiagnosticLog.of(Flights.class);

    private final Backend backend;
    private final @Nullable Backend fallback;
    private final WaitQueues waiting;
    private final Map<String, LongAdder> permits = new ConcurrentHashMap<>();

    /** @param waiting the calls that may continue when one ends */
    Flights(Backend backend, @Nullable Backend fallback, WaitQueues waiting) {
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

    /** How many permits are in flight under a policy. */
    long sum(String policy) {
        LongAdder sum = permits.get(policy);
        return sum == null ? 0 : sum.sum();
    }

    /** How many of these the policy has had. */
    long sum(String policy, LimiterMonitor.FlightCount what) {
        return backend.inFlight(policy, what);
    }

    /** Counts what a decision, and what shadows beside it, holds. */
    void begin(Decision decision) {
        Decision aside = decision.shadow(Access.LIBRARY);
        if (aside != null) {
            begin(aside);
        }
        if (decision.allowed()) {
            for (LimitOutcome outcome : decision.outcomes()) {
                count(outcome, outcome.charge().permits());
            }
            if (decision.source() == Decision.Source.LOCAL_FALLBACK) {
                backend.adopt(decision);
            }
        }
    }

    private void count(LimitOutcome outcome, long number) {
        if (outcome.isInFlight()) {
            String policy = outcome.policy().name();
            String name = permits.size() < EngineMonitor.MOST_POLICIES || permits.containsKey(policy)
                    ? policy
                    : EngineMonitor.OTHERS;
            permits.computeIfAbsent(name, none -> new LongAdder()).add(number);
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
        if (first) {
            count(outcome, -outcome.charge().permits());
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
            holder.end(outcome).whenComplete((held, failure) -> {
                if (failure != null) {
                    LOG.debug("the end of a call is not known yet", failure);
                }
                waiting.wake(outcome);
            });
        } catch (RuntimeException failed) {
            LOG.debug("a call could not be ended", failed);
        }
    }
}
