package io.limiter.spring.aop;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import io.limiter.LimitOutcome;
import io.limiter.RateLimiter;
import io.limiter.rule.Rule;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** What one call took, to be given back when it fails in a way that costs nothing. */
final class Taken {
    private static final Logger LOG = DiagnosticLog.of(io.limiter.spring.RateLimited.class);
    private static final String NOT_GIVEN = "a refund was not given";

    private final RateLimiter limiter;
    private final @Nullable Decision decision;
    private final List<Rule<? super MethodCall>> owners;
    private final List<CompletionStage<Decision>> shadows;
    private final List<Rule<? super MethodCall>> shadowOwners;

    /**
     * What was taken.
     *
     * @param owners the annotations that the charges of the decision come from, in the same order; empty when none of them
     *     gives anything back
     * @param shadowOwners those of the shadows, likewise
     */
    Taken(
            RateLimiter limiter,
            @Nullable Decision decision,
            List<Rule<? super MethodCall>> owners,
            List<CompletionStage<Decision>> shadows,
            List<Rule<? super MethodCall>> shadowOwners) {
        this.limiter = limiter;
        this.decision = decision;
        this.owners = owners;
        this.shadows = shadows;
        this.shadowOwners = shadowOwners;
    }

    /** Whether there is anything to do when the call fails. */
    boolean canComeBack() {
        return !owners.isEmpty() || !shadowOwners.isEmpty();
    }

    /** Gives back what the failure says, and returns when it is done. Never throws: the failure goes on. */
    void giveBack(Throwable thrown) {
        Decision back = backOf(thrown);
        if (back != null) {
            try {
                limiter.refund(back);
            } catch (RuntimeException failed) {
                LOG.debug(NOT_GIVEN, failed);
            }
        }
        giveBackShadows(thrown);
    }

    /** The same, without waiting. */
    void giveBackAsync(Throwable thrown) {
        Decision back = backOf(thrown);
        if (back != null) {
            giveBackAsync(back);
        }
        giveBackShadows(thrown);
    }

    private void giveBackShadows(Throwable thrown) {
        for (int i = 0; i < shadowOwners.size(); i++) {
            if (refunds(shadowOwners.get(i), thrown)) {
                shadows.get(i).thenAccept(this::giveBackAsync);
            }
        }
    }

    private void giveBackAsync(Decision back) {
        try {
            limiter.refundAsync(back);
        } catch (RuntimeException failed) {
            LOG.debug(NOT_GIVEN, failed);
        }
    }

    /** The part of the decision that the failure gives back: the charges whose own annotation says so. Null for nothing. */
    private @Nullable Decision backOf(Throwable thrown) {
        if (decision == null || !decision.allowed()) {
            return null;
        }
        List<Charge> charges = new ArrayList<>();
        for (int i = 0; i < owners.size(); i++) {
            if (refunds(owners.get(i), thrown)) {
                charges.add(decision.charges().get(i));
            }
        }
        if (charges.isEmpty() || charges.size() == decision.charges().size()) {
            return charges.isEmpty() ? null : decision;
        }
        List<LimitOutcome> outcomes = decision.outcomes().stream()
                .filter(outcome -> isAmong(charges, outcome.charge()))
                .toList();
        return Decision.of(decision.source(), charges, outcomes);
    }

    /**
     * Whether one of the charges is to the same policy for the same key. Names are compared, not policies: the outcomes of a local
     * share have its limits, which are smaller than those that were asked.
     */
    static boolean isAmong(List<Charge> charges, Charge one) {
        return charges.stream()
                .anyMatch(charge -> charge.policy().name().equals(one.policy().name())
                        && charge.key().equals(one.key()));
    }

    private static boolean refunds(Rule<? super MethodCall> owner, Throwable thrown) {
        return owner instanceof MethodRule rule && rule.refundsOn(thrown);
    }

    /** What it holds, where it is one of the wrappers that asynchronous code puts around a failure; else null. */
    static @Nullable Throwable wrappedBy(Throwable thrown) {
        return thrown instanceof CompletionException || thrown instanceof ExecutionException ? thrown.getCause() : null;
    }

    static Throwable causeOf(Throwable thrown) {
        Throwable cause = thrown;
        for (Throwable next = wrappedBy(cause); next != null; next = wrappedBy(cause)) {
            cause = next;
        }
        return cause;
    }
}
