package io.limiter.spring.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PermitRequest;
import io.limiter.RateLimiter;
import io.limiter.application.Derived;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.rule.ShadowCounter;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.internal.MethodLimit.Charged;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Asks the limiter about the calls of one method. Thread-safe.
 *
 * @param limits those of the current configuration; also used after the end of the limiter
 */
record CallLimiter(
        MethodScope scope,
        RateLimiter rateLimiter,
        ShadowCounter shadow,
        @Nullable Fallback fallback,
        CallObserver observer,
        Derived<MethodLimits> limits,
        Invoker invoker) {
    private static final Logger LOG = DiagnosticLog.of(CallLimiter.class);

    /** Calls the method if it is allowed, depending on its return type. */
    @Nullable
    Object call(MethodCall call) throws Throwable {
        List<Charged> charged = limits.get().charge(call);
        return charged.isEmpty() ? call.proceed() : invoker.invoke(new ChargedCall(this, call, charged));
    }

    /**
     * A call with its charges: decided once, made or denied, and possibly refunded if it fails. Used by one thread at a
     * time.
     */
    static final class ChargedCall {
        private final CallLimiter its;
        private final MethodCall call;
        private final List<Charged> charged;
        /** How many of them can deny; the others, which come last, are shadow charges. */
        private final int enforced;

        private final Consumer<? super Decision> observed;

        /** The decision, once the call is allowed. */
        private @Nullable Decision taken;

        private List<CompletableFuture<Decision>> counted = List.of();

        /** A call with at least one charge. */
        ChargedCall(CallLimiter its, MethodCall call, List<Charged> charged) {
            int first = 0;
            while (first < charged.size() && !charged.get(first).limit().isShadow()) {
                first++;
            }
            this.its = its;
            this.call = call;
            this.charged = charged;
            this.enforced = first;
            this.observed = its.observer.begin();
        }

        /** Repeats the call: with its key and its cost, and the current policies. */
        ChargedCall again() {
            return new ChargedCall(its, call.again(), its.limits.get().renewed(charged));
        }

        /** Whether it can't be denied. */
        boolean isFree() {
            return enforced == 0;
        }

        Decision decide() {
            Charge first = charged.get(0).charge();
            return enforced == 1 && first.isPlain()
                    ? its.rateLimiter.tryAcquire(first.policy(), first.key(), first.permits())
                    : its.rateLimiter.tryAcquire(PermitRequest.of(charges()));
        }

        CompletionStage<Decision> decideAsync() {
            return charged.stream().allMatch(one -> one.limit().maxWait().isZero())
                    ? its.rateLimiter.acquireAsync(PermitRequest.of(charges()))
                    : its.rateLimiter.acquireAsync(PermitRequest.of(charges()).withMaxWait(this::maxWait));
        }

        private Duration maxWait(Charge charge) {
            return charged.stream()
                    .filter(one -> one.charge().isToSame(charge))
                    .map(one -> one.limit().maxWait())
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
                counted = its.shadow.count(
                        charged.stream().skip(enforced).map(Charged::charge).toList(), "a call of " + its.scope);
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
            Fallback fallback = its.fallback;
            if (fallback == null) {
                throw new RateLimitExceededException(decision);
            }
            return fallback.answer(call, decision);
        }

        /** Whether a failure may require a refund. */
        boolean isRefundable() {
            for (int i = 0; i < charged.size(); i++) {
                if (charged.get(i).limit().refunds()) {
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
                refund(
                        taken,
                        charge -> back.stream().anyMatch(one -> one.charge().isToSame(charge)),
                        waits);
            }
            for (int i = 0; i < counted.size(); i++) {
                if (charged.get(enforced + i).refundsOn(failure)) {
                    counted.get(i).thenAccept(decision -> refund(decision, charge -> true, false));
                }
            }
        }

        private void refund(Decision decision, Predicate<Charge> which, boolean waits) {
            try {
                CompletionStage<Boolean> given = its.rateLimiter.refundAsync(List.of(decision), which);
                if (waits) {
                    given.toCompletableFuture().join();
                }
            } catch (RuntimeException failed) {
                LOG.debug("a refund failed", failed);
            }
        }
    }
}
