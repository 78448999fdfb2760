package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.internal.Access;
import io.limiter.internal.Algorithm;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What comes back of a decision, and wakes calls that wait for it: refunds, and the ends of calls in flight, which are counted from
 * their begin. The permits are held by the backend that granted them, or by the local share; the decision knows of each outcome whether
 * it has ended, and whether it was refunded. Thread-safe.
 */
final class Returns {
    private static final Logger LOG = LoggerFactory.getLogger(Returns.class);

    private final Backend backend;
    private final @Nullable Backend fallback;
    private final WaitQueues waiting;
    private final Function<Policy, CallCounts> counts;

    /**
     * @param waiting the calls that may continue when permits come back
     * @param counts those of a policy
     */
    Returns(Backend backend, @Nullable Backend fallback, WaitQueues waiting, Function<Policy, CallCounts> counts) {
        this.backend = backend;
        this.fallback = fallback;
        this.waiting = waiting;
        this.counts = counts;
    }

    /** Refuses a request whose permits nobody would give back. */
    static PermitRequest checked(PermitRequest request) {
        if (!request.hasEnd() && request.mode() == Backend.Mode.TAKE) {
            request.charges().forEach(Returns::check);
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

    /** Undoes what is granted to a caller that has cancelled: nobody else knows of it. */
    static <T> CompletableFuture<T> orUndone(
            CompletableFuture<T> callers, CompletableFuture<T> answer, Consumer<? super T> undo) {
        callers.exceptionally(cancelled -> {
            answer.thenAccept(undo);
            return null;
        });
        return callers;
    }

    /** Counts what a decision holds. */
    void begin(Decision decision) {
        for (LimitOutcome outcome : decision.each(Access.LIBRARY)) {
            if (decision.allowed() && outcome.isInFlight() && isCounted(outcome)) {
                counts.apply(outcome.policy()).add(CallCounts.IN_FLIGHT, outcome.permits());
            }
        }
    }

    /** Once for each charge, however many such limits its policy has. */
    private static boolean isCounted(LimitOutcome outcome) {
        return outcome.limit().equals(outcome.policy().limits().get(0));
    }

    /** Ends what a decision holds. Never fails. */
    void end(Decision decision) {
        end(decision, null);
    }

    /** @param known the counts of its policy; null for several policies */
    void end(Decision decision, @Nullable CallCounts known) {
        for (LimitOutcome outcome : decision.each(Access.LIBRARY)) {
            if (decision.allowed() && outcome.isInFlight()) {
                end(outcome, known == null ? counts.apply(outcome.policy()) : known);
            }
        }
    }

    /** Ends what an outcome holds; false if it has ended, or holds nothing. */
    private boolean end(LimitOutcome outcome, CallCounts counts) {
        // Before the end, so that their memory is read while that waits for the lock.
        long[] row = counts.ofThisThread();
        LimitOutcome.Holder holder = outcome.holder();
        boolean first = true;
        try {
            first = holder == null ? outcome.claimEnd(Access.LIBRARY) : holder.end(outcome);
        } catch (RuntimeException failed) {
            LOG.debug("a call could not be ended", failed);
        }
        if (first) {
            counts.add(row, CallCounts.IN_FLIGHT, isCounted(outcome) ? -outcome.permits() : 0);
            // Without waiting for the answer: calls that ask later are decided after this end.
            waiting.wake(outcome.policy(), outcome.charge().key());
        }
        return first;
    }

    /** Refunds those charges, each decision once; returns whether anything was refunded. Never fails. */
    CompletableFuture<Boolean> refund(List<Decision> decisions, Predicate<? super Charge> which) {
        Map<Decision.Source, List<LimitOutcome>> taken = new EnumMap<>(Decision.Source.class);
        for (Decision decision : decisions) {
            if (!decision.allowed() || !decision.claimRefund(Access.LIBRARY)) {
                continue;
            }
            for (LimitOutcome outcome : decision.outcomes()) {
                if (which.test(outcome.charge())) {
                    taken.computeIfAbsent(decision.source(), source -> new ArrayList<>())
                            .add(outcome);
                }
            }
        }
        CompletableFuture<Boolean> any = CompletableFuture.completedFuture(false);
        for (Map.Entry<Decision.Source, List<LimitOutcome>> one : taken.entrySet()) {
            any = any.thenCombine(refund(one.getKey(), one.getValue()), Boolean::logicalOr);
        }
        return any;
    }

    /** Gives back what was taken by decisions of that source; returns whether anything was. Never fails. */
    CompletableFuture<Boolean> refund(Decision.Source source, List<LimitOutcome> outcomes) {
        boolean ended = false;
        List<LimitOutcome> taken = new ArrayList<>(outcomes.size());
        for (LimitOutcome outcome : outcomes) {
            if (outcome.isInFlight()) {
                ended |= end(outcome, counts.apply(outcome.policy()));
            } else {
                taken.add(outcome);
            }
        }
        if (taken.isEmpty()) {
            return CompletableFuture.completedFuture(ended);
        }
        boolean any = ended;
        List<Charge> charges =
                taken.stream().map(LimitOutcome::charge).distinct().toList();
        return holder(source)
                .refund(Decision.of(source, charges, taken))
                .toCompletableFuture()
                .exceptionally(failure -> {
                    LOG.debug("a refund failed", failure);
                    return false;
                })
                .thenApply(given -> {
                    if (given) {
                        wake(charges);
                    }
                    return given || any;
                });
    }

    /** What has the permits that decisions of that source took. */
    Backend holder(Decision.Source source) {
        return source == Decision.Source.LOCAL_FALLBACK && fallback != null ? fallback : backend;
    }

    /** Calls that wait for these keys ask at once. */
    void wake(List<Charge> charges) {
        charges.forEach(charge -> waiting.wake(charge.policy(), charge.key()));
    }

    /** Confirms the purchases of a decision; returns false if it made none. */
    CompletableFuture<Boolean> confirm(Decision decision) {
        List<LimitOutcome> bought = decision.outcomes().stream()
                .filter(outcome -> outcome.limit().algorithm() == Algorithm.ALLOTMENT
                        && outcome.charge().permits() > 0)
                .toList();
        return !decision.allowed() || bought.isEmpty()
                ? CompletableFuture.completedFuture(false)
                : backend.confirm(Decision.of(decision.source(), decision.charges(), bought))
                        .toCompletableFuture();
    }
}
