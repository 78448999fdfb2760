package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.Stock;
import io.limiter.internal.Access;
import io.limiter.internal.DiagnosticLog;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** Refunds or confirms the permits of a decision. Thread-safe. */
final class Refunds {
    private static final Logger LOG = DiagnosticLog.of(Refunds.class);

    private final Backend backend;
    private final @Nullable Backend fallback;
    private final WaitQueues waiting;
    private final Flights flights;

    /** @param waiting the calls that may continue when a key has more quota */
    Refunds(Backend backend, @Nullable Backend fallback, WaitQueues waiting, Flights flights) {
        this.flights = flights;
        this.backend = backend;
        this.fallback = fallback;
        this.waiting = waiting;
    }

    /** Confirms the purchases of a decision; returns false if it made none. */
    CompletableFuture<Boolean> confirm(Decision decision) {
        List<LimitOutcome> bought = decision.outcomes().stream()
                .filter(outcome ->
                        outcome.limit() instanceof Stock && outcome.charge().permits() > 0)
                .toList();
        return !decision.allowed() || bought.isEmpty()
                ? CompletableFuture.completedFuture(false)
                : backend.confirm(Decision.of(decision.source(), decision.charges(), bought))
                        .toCompletableFuture();
    }

    /** Refunds those charges, each decision once; returns whether anything was refunded. Never fails. */
    CompletableFuture<Boolean> give(List<Decision> decisions, Predicate<? super Charge> which) {
        Map<Decision.Source, List<LimitOutcome>> taken = new EnumMap<>(Decision.Source.class);
        boolean ended = false;
        for (Decision decision : decisions) {
            if (decision.allowed() && decision.claimRefund(Access.LIBRARY)) {
                for (LimitOutcome outcome : decision.outcomes()) {
                    if (!which.test(outcome.charge())) {
                        continue;
                    }
                    if (outcome.isInFlight()) {
                        ended |= flights.end(outcome);
                    } else {
                        taken.computeIfAbsent(decision.source(), source -> new ArrayList<>())
                                .add(outcome);
                    }
                }
            }
        }
        CompletableFuture<Boolean> any = CompletableFuture.completedFuture(ended);
        for (Map.Entry<Decision.Source, List<LimitOutcome>> one : taken.entrySet()) {
            any = any.thenCombine(give(one.getKey(), one.getValue()), Boolean::logicalOr);
        }
        return any;
    }

    private CompletableFuture<Boolean> give(Decision.Source source, List<LimitOutcome> taken) {
        Backend giver = source == Decision.Source.LOCAL_FALLBACK ? fallback : backend;
        if (giver == null) {
            return CompletableFuture.completedFuture(false);
        }
        List<Charge> charges =
                taken.stream().map(LimitOutcome::charge).distinct().toList();
        return giver.refund(Decision.of(source, charges, taken))
                .toCompletableFuture()
                .exceptionally(failure -> {
                    LOG.debug("a refund failed", failure);
                    return false;
                })
                .thenApply(given -> {
                    if (given) {
                        charges.forEach(charge -> waiting.wake(charge.policy(), charge.key()));
                    }
                    return given;
                });
    }
}
