package io.limiter.spring.call;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Derived;
import io.limiter.DiagnosticLog;
import io.limiter.RateLimiter;
import io.limiter.rule.ShadowCounter;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.call.MethodRule.Charged;
import io.limiter.spring.expression.MethodCall;
import io.limiter.spring.expression.MethodScope;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Predicate;
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
    private final List<Charged> charged;
    /** How many of them can deny; the others, which come last, are only counted. */
    private final int enforced;

    private final Consumer<? super Decision> observed;

    /** What was taken: once the call may be made. */
    private @Nullable Decision taken;

    private List<CompletionStage<Decision>> counted = List.of();

    /**
     * What is the same for all calls of a method.
     *
     * @param rules those of the present snapshot, which calls may ask for after the end too
     */
    public record Terms(
            MethodScope scope,
            RateLimiter limiter,
            ShadowCounter shadow,
            @Nullable Fallback fallback,
            CallObserver observer,
            Derived<MethodRules> rules) {}

    private LimitedCall(Terms terms, MethodCall call, List<Charged> charged) {
        int first = 0;
        while (first < charged.size() && !charged.get(first).rule().isShadow()) {
            first++;
        }
        this.terms = terms;
        this.call = call;
        this.charged = charged;
        this.enforced = first;
        this.observed = terms.observer.begin();
    }

    /** A call under the present rules; null when none of them is for it. */
    public static @Nullable LimitedCall of(MethodCall call, Terms terms) {
        List<Charged> charged = terms.rules.get().charge(call);
        return charged.isEmpty() ? null : new LimitedCall(terms, call, charged);
    }

    /** The same call as if it came again: with its key and its cost, and the policies of now. */
    LimitedCall again() {
        MethodRules rules = terms.rules.get();
        return new LimitedCall(
                terms, call.again(), charged.stream().map(rules::renewed).toList());
    }

    /** Whether nothing can deny it. */
    boolean isFree() {
        return enforced == 0;
    }

    Decision decide() {
        Charged only = charged.get(0);
        if (enforced > 1 || only.member() != null) {
            return terms.limiter.tryAcquire(charges());
        }
        return terms.limiter.tryAcquire(only.rule().policy(), only.key(), only.permits());
    }

    CompletionStage<Decision> decideAsync() {
        return charged.stream().allMatch(one -> one.rule().rule().maxWait().isZero())
                ? terms.limiter.tryAcquireAsync(charges())
                : terms.limiter.tryAcquireAsync(charges(), this::maxWait);
    }

    private Duration maxWait(Charge charge) {
        return charged.stream()
                .filter(one -> one.charge().isToSame(charge))
                .map(one -> one.rule().rule().maxWait())
                .min(Comparator.naturalOrder())
                .orElse(Duration.ZERO);
    }

    private List<Charge> charges() {
        Charge[] charges = new Charge[enforced];
        for (int i = 0; i < charges.length; i++) {
            charges[i] = charged.get(i).charge();
        }
        return List.of(charges);
    }

    /**
     * Makes the call.
     *
     * @param decision that allows it; null for a free one
     * @param waits whether what comes back when it fails is waited for
     */
    @Nullable
    Object proceed(@Nullable Decision decision, boolean waits) throws Throwable {
        if (decision != null) {
            observed.accept(decision);
        }
        if (enforced < charged.size()) {
            counted = terms.shadow.count(
                    charged.stream().skip(enforced).map(Charged::charge).toList(), "a call of " + terms.scope);
        }
        if (!isRefundable()) {
            return call.proceed();
        }
        taken = decision;
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
        observed.accept(decision);
        if (terms.fallback == null) {
            throw new RateLimitExceededException(decision);
        }
        return terms.fallback.answer(call, decision);
    }

    /** Whether a failure may have to be refunded. */
    boolean isRefundable() {
        for (int i = 0; i < charged.size(); i++) {
            if (charged.get(i).rule().refunds()) {
                return true;
            }
        }
        return false;
    }

    /** Gives back what the failure says, if anything. Never throws: the failure goes on. */
    void refund(Throwable failure, boolean waits) {
        List<Charged> back = charged.stream()
                .limit(enforced)
                .filter(one -> one.refundsOn(failure))
                .toList();
        if (taken != null && !back.isEmpty()) {
            // By names, not by policies: the outcomes of a local share have its limits, which are smaller than those
            // that were asked.
            refund(taken, charge -> back.stream().anyMatch(one -> one.charge().isToSame(charge)), waits);
        }
        for (int i = 0; i < counted.size(); i++) {
            if (charged.get(enforced + i).refundsOn(failure)) {
                counted.get(i).thenAccept(decision -> refund(decision, charge -> true, false));
            }
        }
    }

    private void refund(Decision decision, Predicate<Charge> which, boolean waits) {
        try {
            CompletionStage<Boolean> given = terms.limiter.refundAsync(List.of(decision), which);
            if (waits) {
                given.toCompletableFuture().join();
            }
        } catch (RuntimeException failed) {
            LOG.debug("a refund was not given", failed);
        }
    }
}
