package io.limiter.spring.aop;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.RateLimiter;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What one call took, to be given back when it fails in a way that costs nothing. */
final class Taken {
    private static final Logger LOG = LoggerFactory.getLogger(io.limiter.spring.RateLimited.class);

    private final RateLimiter limiter;
    private final LimitedMethods.Rules rules;
    private final @Nullable Decision decision;
    private final List<CompletionStage<Decision>> shadows;

    Taken(
            RateLimiter limiter,
            LimitedMethods.Rules rules,
            @Nullable Decision decision,
            List<CompletionStage<Decision>> shadows) {
        this.limiter = limiter;
        this.rules = rules;
        this.decision = decision;
        this.shadows = shadows;
    }

    /** Whether there is anything to do when the call fails. */
    boolean canComeBack() {
        return rules.refunds();
    }

    /** Gives back what the failure says, and returns when it is done. Never throws: the failure goes on. */
    void giveBack(Throwable thrown) {
        Decision back = backOf(decision, rules.enforced(), causeOf(thrown));
        if (back != null) {
            try {
                limiter.refund(back);
            } catch (RuntimeException failed) {
                LOG.debug("a refund was not given", failed);
            }
        }
        giveBackShadows(thrown);
    }

    /** The same, without waiting. */
    void giveBackAsync(Throwable thrown) {
        Decision back = backOf(decision, rules.enforced(), causeOf(thrown));
        if (back != null) {
            try {
                limiter.refundAsync(back);
            } catch (RuntimeException failed) {
                LOG.debug("a refund was not given", failed);
            }
        }
        giveBackShadows(thrown);
    }

    private void giveBackShadows(Throwable thrown) {
        for (CompletionStage<Decision> shadow : shadows) {
            shadow.thenAccept(counted -> {
                Decision back = backOf(counted, rules.shadows(), causeOf(thrown));
                if (back != null) {
                    limiter.refundAsync(back);
                }
            });
        }
    }

    /** The part of a decision that the failure gives back; null when that is nothing. */
    private static @Nullable Decision backOf(@Nullable Decision decision, List<MethodRule> rules, Throwable failure) {
        if (decision == null || !decision.allowed()) {
            return null;
        }
        Set<String> policies = new HashSet<>();
        for (MethodRule rule : rules) {
            if (rule.refundsOn(failure)) {
                policies.add(rule.policy().name());
            }
        }
        List<LimitOutcome> outcomes = decision.outcomes().stream()
                .filter(outcome -> policies.contains(outcome.charge().policy().name()))
                .toList();
        if (outcomes.isEmpty() || outcomes.size() == decision.outcomes().size()) {
            return outcomes.isEmpty() ? null : decision;
        }
        List<Charge> charges = decision.charges().stream()
                .filter(charge -> policies.contains(charge.policy().name()))
                .toList();
        return Decision.of(decision.source(), charges, outcomes);
    }

    static Throwable causeOf(Throwable thrown) {
        Throwable cause = thrown;
        while ((cause instanceof CompletionException || cause instanceof ExecutionException)
                && cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }
}
