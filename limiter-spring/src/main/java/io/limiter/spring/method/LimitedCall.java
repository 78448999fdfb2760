package io.limiter.spring.method;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DiagnosticLog;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.method.MethodRule.Charged;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A call of a limited method with its charges: decided once, made or denied, and possibly refunded if it fails. Used by
 * one thread at a time.
 */
final class LimitedCall {
    private static final Logger LOG = DiagnosticLog.of(LimitedCall.class);

    private final LimitedMethod method;
    private final MethodCall call;
    private final List<Charged> charged;
    /** How many of them can deny; the others, which come last, are shadow charges. */
    private final int enforced;

    private final Consumer<? super Decision> observed;

    /** The decision, once the call is allowed. */
    private @Nullable Decision taken;

    private List<CompletionStage<Decision>> counted = List.of();

    /** A call with at least one charge. */
    LimitedCall(LimitedMethod method, MethodCall call, List<Charged> charged) {
        int first = 0;
        while (first < charged.size() && !charged.get(first).rule().isShadow()) {
            first++;
        }
        this.method = method;
        this.call = call;
        this.charged = charged;
        this.enforced = first;
        this.observed = method.observer().begin();
    }

    /** Repeats the call: with its key and its cost, and the current policies. */
    LimitedCall again() {
        return new LimitedCall(method, call.again(), method.rules().get().renewed(charged));
    }

    /** Whether it can't be denied. */
    boolean isFree() {
        return enforced == 0;
    }

    Decision decide() {
        Charged only = charged.get(0);
        if (enforced > 1 || only.member() != null) {
            return method.limiter().tryAcquire(charges());
        }
        return method.limiter().tryAcquire(only.policy(), only.key(), only.permits());
    }

    CompletionStage<Decision> decideAsync() {
        return charged.stream().allMatch(one -> one.rule().maxWait().isZero())
                ? method.limiter().tryAcquireAsync(charges())
                : method.limiter().tryAcquireAsync(charges(), this::maxWait);
    }

    private Duration maxWait(Charge charge) {
        return charged.stream()
                .filter(one -> one.charge().isToSame(charge))
                .map(one -> one.rule().maxWait())
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
     * @param decision that allows it; null for a call without enforced charges
     * @param waits whether to wait for the refund if it fails
     */
    @Nullable
    Object proceed(@Nullable Decision decision, boolean waits) throws Throwable {
        if (decision != null) {
            observed.accept(decision);
        }
        if (enforced < charged.size()) {
            counted = method.shadow()
                    .count(
                            charged.stream().skip(enforced).map(Charged::charge).toList(),
                            "a call of " + method.scope());
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
        Fallback fallback = method.fallback();
        if (fallback == null) {
            throw new RateLimitExceededException(decision);
        }
        return fallback.answer(call, decision);
    }

    /** Whether a failure may require a refund. */
    boolean isRefundable() {
        for (int i = 0; i < charged.size(); i++) {
            if (charged.get(i).rule().refunds()) {
                return true;
            }
        }
        return false;
    }

    /** Refunds the charges that this failure refunds, if any. Never throws, so that the failure reaches the caller. */
    void refund(Throwable failure, boolean waits) {
        List<Charged> back = charged.stream()
                .limit(enforced)
                .filter(one -> one.refundsOn(failure))
                .toList();
        if (taken != null && !back.isEmpty()) {
            // By names, not by policies: the outcomes of a local share have its limits, which are smaller than the
            // configured ones.
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
            CompletionStage<Boolean> given = method.limiter().refundAsync(List.of(decision), which);
            if (waits) {
                given.toCompletableFuture().join();
            }
        } catch (RuntimeException failed) {
            LOG.debug("a refund failed", failed);
        }
    }
}
