package io.limiter.spring.call;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import io.limiter.LimitOutcome;
import io.limiter.RateLimiter;
import io.limiter.rule.Rule;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.expression.MethodCall;
import io.limiter.spring.expression.MethodScope;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A call of a limited method with what it is charged: decided once, made or denied, and when it fails perhaps given back. Used by
 * one thread at a time.
 */
public final class LimitedCall {
    private static final Logger LOG = DiagnosticLog.of(LimitedCall.class);

    private final Terms terms;
    private final MethodCall call;
    private final List<Charge> charges;
    private final List<Rule<? super MethodCall>> owners;
    private final List<Charge> shadowCharges;
    private final List<Rule<? super MethodCall>> shadowOwners;
    /** What was taken: once the call may be made. */
    private @Nullable Decision taken;

    private List<CompletionStage<Decision>> counted = List.of();

    /**
     * What is the same for all calls of a method.
     *
     * @param rules those of the present snapshot
     */
    public record Terms(
            MethodScope scope,
            RateLimiter limiter,
            ShadowCounter shadow,
            @Nullable Fallback fallback,
            Supplier<MethodRules> rules) {}

    /**
     * A call.
     *
     * @param owners the annotations that the charges come from, in the same order; empty when none of them refunds anything
     * @param shadowOwners those of the charges that are only counted, likewise
     */
    private LimitedCall(
            Terms terms,
            MethodCall call,
            List<Charge> charges,
            List<Rule<? super MethodCall>> owners,
            List<Charge> shadowCharges,
            List<Rule<? super MethodCall>> shadowOwners) {
        this.terms = terms;
        this.call = call;
        this.charges = charges;
        this.owners = owners;
        this.shadowCharges = shadowCharges;
        this.shadowOwners = shadowOwners;
    }

    /** A call under the present rules; null when none of them is for it. */
    public static @Nullable LimitedCall of(MethodCall call, Terms terms) {
        MethodRules rules = terms.rules.get();
        // Who made which charge matters only where some come back.
        List<Rule<? super MethodCall>> owners = rules.refund() ? new ArrayList<>() : List.of();
        List<Charge> charges = rules.enforced().charges(call, rules.refund() ? owners : null);
        List<Charge> counted = List.of();
        List<Rule<? super MethodCall>> shadowOwners = List.of();
        if (rules.shadows().size() > 0) {
            shadowOwners = new ArrayList<>();
            counted = rules.shadows().charges(call, shadowOwners);
            for (int i = counted.size() - 1; i >= 0; i--) {
                // The enforced charge counts for both.
                if (isAmong(charges, counted.get(i))) {
                    counted.remove(i);
                    shadowOwners.remove(i);
                }
            }
        }
        return charges.isEmpty() && counted.isEmpty()
                ? null
                : new LimitedCall(terms, call, charges, owners, counted, rules.refund() ? shadowOwners : List.of());
    }

    /** The same call as if it came again: with its key and its cost, and the policies of now. */
    LimitedCall again() {
        MethodRules rules = terms.rules.get();
        return new LimitedCall(
                terms,
                call.again(),
                charges.stream().map(rules::renewed).toList(),
                owners,
                shadowCharges.stream().map(rules::renewed).toList(),
                shadowOwners);
    }

    /** Whether nothing can deny it. */
    boolean isFree() {
        return charges.isEmpty();
    }

    Decision decide() {
        return terms.limiter.tryAcquire(charges);
    }

    CompletionStage<Decision> decideAsync() {
        return terms.limiter.tryAcquireAsync(charges);
    }

    /**
     * Makes the call.
     *
     * @param decision that allows it; null for a free one
     * @param waits whether what comes back when it fails is waited for
     */
    @Nullable
    Object proceed(@Nullable Decision decision, boolean waits) throws Throwable {
        taken = decision;
        if (!shadowCharges.isEmpty()) {
            counted = shadowCharges.stream()
                    .map(charge -> terms.shadow.count(charge, terms.scope))
                    .toList();
        }
        try {
            return call.proceed();
        } catch (Throwable failure) {
            refund(failure, waits);
            throw failure;
        }
    }

    /** Answers instead of the call. */
    @Nullable
    Object deny(Decision decision) throws Throwable {
        if (terms.fallback == null) {
            throw new RateLimitExceededException(decision);
        }
        return terms.fallback.answer(call, decision);
    }

    /** Whether a failure may have to be refunded. */
    boolean isRefundable() {
        return !owners.isEmpty() || !shadowOwners.isEmpty();
    }

    /** Gives back what the failure says, if anything. Never throws: the failure goes on. */
    void refund(Throwable failure, boolean waits) {
        Decision back = partOf(taken, failure);
        if (back != null) {
            refund(back, waits);
        }
        for (int i = 0; i < shadowOwners.size() && i < counted.size(); i++) {
            if (refunds(shadowOwners.get(i), failure)) {
                counted.get(i).thenAccept(decision -> refund(decision, false));
            }
        }
    }

    private void refund(Decision back, boolean waits) {
        try {
            if (waits) {
                terms.limiter.refund(back);
            } else {
                terms.limiter.refundAsync(back);
            }
        } catch (RuntimeException failed) {
            LOG.debug("a refund was not given", failed);
        }
    }

    /** The part of a decision that the failure gives back: the charges whose own annotation says so. Null for nothing. */
    private @Nullable Decision partOf(@Nullable Decision decision, Throwable failure) {
        if (decision == null || !decision.allowed()) {
            return null;
        }
        List<Charge> back = new ArrayList<>();
        for (int i = 0; i < owners.size(); i++) {
            if (refunds(owners.get(i), failure)) {
                back.add(decision.charges().get(i));
            }
        }
        if (back.isEmpty() || back.size() == decision.charges().size()) {
            return back.isEmpty() ? null : decision;
        }
        List<LimitOutcome> outcomes = decision.outcomes().stream()
                .filter(outcome -> isAmong(back, outcome.charge()))
                .toList();
        return Decision.of(decision.source(), back, outcomes);
    }

    private static boolean refunds(Rule<? super MethodCall> owner, Throwable failure) {
        return owner instanceof MethodRule.UnderPolicy of && of.rule().refundsOn(failure);
    }

    /**
     * Whether one of the charges is to the same policy for the same key. Names are compared, not policies: the outcomes of a local
     * share have its limits, which are smaller than those that were asked.
     */
    private static boolean isAmong(List<Charge> charges, Charge one) {
        return charges.stream()
                .anyMatch(charge -> charge.policy().name().equals(one.policy().name())
                        && charge.key().equals(one.key()));
    }
}
