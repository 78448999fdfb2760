package io.limiter.spring.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PermitRequest;
import io.limiter.application.Derived;
import io.limiter.internal.DiagnosticLog;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.internal.MethodLimit.Charged;
import io.limiter.spring.internal.MethodLimit.InForce;
import java.time.Duration;
import java.util.ArrayList;
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
 * @param owner has the rate limiter
 * @param limits of its annotations, under the current configuration, shadow ones last; also used after the end of the
 *     limiter
 * @param invoker null if the caller waits for the decision
 */
record CallLimiter(
        CallLimiters owner,
        MethodScope scope,
        Derived<List<InForce>> limits,
        @Nullable Fallback fallback,
        @Nullable Invoker invoker) {
    private static final Logger LOG = DiagnosticLog.of(CallLimiter.class);

    /** Calls the method if it is allowed, depending on its return type. */
    @Nullable
    Object call(MethodCall call) throws Throwable {
        List<Charged> charged = owner.isEnabled ? charge(call, limits.get()) : List.of();
        if (charged.isEmpty()) {
            return call.rest.proceed();
        }
        ChargedCall asked = new ChargedCall(call, charged);
        return invoker == null ? asked.invoke() : invoker.invoke(asked);
    }

    /** The charges for a call, shadow charges last. An enforced charge of one policy for one key counts for a shadow one. */
    private static List<Charged> charge(MethodCall call, List<InForce> limits) {
        if (limits.size() == 1) {
            Charged only = limits.get(0).charge(call);
            return only == null ? List.of() : List.of(only);
        }
        List<Charged> all = new ArrayList<>(limits.size());
        for (InForce limit : limits) {
            Charged charged = limit.charge(call);
            if (charged != null
                    && all.stream()
                            .noneMatch(known ->
                                    known.limit().isShadow() != charged.limit().isShadow()
                                            && known.isTo(charged.charge()))) {
                all.add(charged);
            }
        }
        return all;
    }

    /**
     * A call with its charges: decided once, made or denied, and possibly refunded if it fails. Used by one thread at a
     * time.
     */
    final class ChargedCall {
        private final MethodCall call;
        private final List<Charged> charged;
        /** How many of them can deny; the others, which come last, are shadow charges. */
        private final int enforced;

        /** Gets the decision; null if nobody observes calls. */
        private final @Nullable Consumer<? super Decision> observed;

        /** The decision, once the call is allowed. */
        private @Nullable Decision taken;

        private List<CompletableFuture<Decision>> counted = List.of();

        /** A call with at least one charge. */
        ChargedCall(MethodCall call, List<Charged> charged) {
            int first = 0;
            while (first < charged.size() && !charged.get(first).limit().isShadow()) {
                first++;
            }
            this.call = call;
            this.charged = charged;
            this.enforced = first;
            this.observed = owner.observer == null ? null : owner.observer.begin();
        }

        /** Repeats the call: with its key and its cost, and the current policies. */
        ChargedCall again() {
            List<InForce> present = limits.get();
            return new ChargedCall(
                    new MethodCall(call.target, call.arguments, call.rest.again()),
                    charged.stream()
                            .flatMap(one -> present.stream().flatMap(limit -> limit.renewed(one)))
                            .toList());
        }

        /** Whether it can't be denied. */
        boolean isFree() {
            return enforced == 0;
        }

        /** The call of a caller that waits for the decision as for the method. */
        @Nullable
        Object invoke() throws Throwable {
            if (isFree()) {
                return proceed(null, true);
            }
            Charged first = charged.get(0);
            Decision decision = enforced == 1 && first.member() == null
                    ? owner.rateLimiter.tryAcquire(first.policy(), first.key(), first.permits())
                    : owner.rateLimiter.tryAcquire(PermitRequest.of(charges(0, enforced)));
            return decision.allowed() ? proceed(decision, true) : deny(decision);
        }

        CompletionStage<Decision> decideAsync() {
            return charged.stream().allMatch(one -> one.limit().maxWait().isZero())
                    ? owner.rateLimiter.acquireAsync(PermitRequest.of(charges(0, enforced)))
                    : owner.rateLimiter.acquireAsync(
                            PermitRequest.of(charges(0, enforced)).withMaxWait(this::maxWait));
        }

        private Duration maxWait(Charge charge) {
            return charged.stream()
                    .filter(one -> one.isTo(charge))
                    .map(one -> one.limit().maxWait())
                    .min(Comparator.naturalOrder())
                    .orElse(Duration.ZERO);
        }

        /** The charges of some: if several charge one policy for one key, only the largest one counts. */
        private List<Charge> charges(int from, int to) {
            List<Charge> all = new ArrayList<>(to - from);
            for (Charged one : charged.subList(from, to)) {
                Charge charge = one.charge();
                int same = 0;
                while (same < all.size() && !all.get(same).isToSame(charge)) {
                    same++;
                }
                if (same == all.size()) {
                    all.add(charge);
                } else if (charge.permits() > all.get(same).permits()) {
                    all.set(same, charge);
                }
            }
            return all;
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
                observe(decision);
            }
            if (enforced < charged.size()) {
                counted = owner.shadow.count(charges(enforced, charged.size()), "a call of " + scope);
            }
            if (!isRefundable()) {
                return call.rest.proceed();
            }
            taken = decision;
            try {
                return call.rest.proceed();
            } catch (Throwable failure) {
                refund(failure, waits);
                throw failure;
            }
        }

        /** Answers instead of the call. */
        @Nullable
        Object deny(Decision decision) throws Throwable {
            observe(decision);
            if (fallback == null) {
                throw new RateLimitExceededException(decision);
            }
            return fallback.answer(call, decision);
        }

        private void observe(Decision decision) {
            if (observed != null) {
                observed.accept(decision);
            }
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
            if (charged.stream().noneMatch(one -> one.limit().refundsOn(failure))) {
                return;
            }
            // By names, not by policies: the outcomes of a local share have its limits, which are smaller than the
            // configured ones. All annotations with one charge must refund it.
            Predicate<Charge> which = charge -> charged.stream()
                    .filter(one -> one.isTo(charge))
                    .allMatch(one -> one.limit().refundsOn(failure));
            if (taken != null) {
                refund(taken, which, waits);
            }
            counted.forEach(one -> one.thenAccept(decision -> refund(decision, which, false)));
        }

        private void refund(Decision decision, Predicate<Charge> which, boolean waits) {
            try {
                CompletionStage<Boolean> given = owner.rateLimiter.refundAsync(List.of(decision), which);
                if (waits) {
                    given.toCompletableFuture().join();
                }
            } catch (RuntimeException failed) {
                LOG.debug("a refund failed", failed);
            }
        }
    }
}
