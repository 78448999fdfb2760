package io.limiter.spring.internal;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.application.Derived;
import io.limiter.internal.HoldTerms;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.internal.MethodLimit.Charged;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Asks the limiter about the calls of one method: {@link MethodLimit} makes the charges of each annotation, {@link ChargedCall} has
 * those of one call, and an {@link Invoker} fits the call to an asynchronous return type. Thread-safe.
 *
 * @param owner has the rate limiter
 * @param method the one that runs
 * @param place how log lines name the method
 * @param limits of its annotations, shadow ones last
 * @param policies those of each limit, by plan, under the current configuration; also used after the end of the limiter
 * @param invoker null if the caller waits for the decision
 */
record CallLimiter(
        CallLimiters owner,
        Method method,
        String place,
        List<MethodLimit> limits,
        Derived<List<Map<String, Policy>>> policies,
        @Nullable Fallback fallback,
        @Nullable Invoker invoker) {
    /** Calls the method if it is allowed, depending on its return type. */
    @Nullable
    Object call(MethodCall call) throws Throwable {
        List<Charged> charged = owner.isEnabled ? charge(call) : List.of();
        if (charged.isEmpty()) {
            return call.proceed();
        }
        ChargedCall chargedCall = new ChargedCall(call, charged);
        return invoker == null ? chargedCall.invoke() : invoker.invoke(chargedCall);
    }

    /** The uses of its policies, for reports. */
    Stream<AnnotatedPolicy> described() {
        List<Map<String, Policy>> present = policies.get();
        return IntStream.range(0, limits.size())
                .boxed()
                .flatMap(i -> limits.get(i).described(present.get(i)));
    }

    /** The charges for a call, shadow charges last. */
    private List<Charged> charge(MethodCall call) {
        List<Map<String, Policy>> present = policies.get();
        if (limits.size() == 1) {
            // Without an array of a length that the compiler does not know.
            Charged only = limits.get(0).charge(call, present.get(0));
            return only == null ? List.of() : List.of(only);
        }
        List<Charged> all = new ArrayList<>(limits.size());
        for (int i = 0; i < limits.size(); i++) {
            Charged charged = limits.get(i).charge(call, present.get(i));
            // A shadow of what is enforced would use up its quota.
            if (charged != null
                    && !(charged.limit().isShadow()
                            && all.stream()
                                    .anyMatch(one -> !one.limit().isShadow()
                                            && one.charge().isToSame(charged.charge())))) {
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
        /** How long its estimates are reserved; zero if it has none. */
        private final Duration reservedFor;
        /** How the call ended; null if nothing is to be done then. What is decided after it is undone at once. */
        private final @Nullable CompletableFuture<End> ended;

        /** A call with at least one charge. */
        ChargedCall(MethodCall call, List<Charged> charged) {
            int first = 0;
            while (first < charged.size() && !charged.get(first).limit().isShadow()) {
                first++;
            }
            this.call = call;
            this.charged = charged;
            this.enforced = first;
            Duration longest = Duration.ZERO;
            boolean hasEnd = false;
            // Without what a stream costs, because each call comes here.
            for (int i = 0; i < charged.size(); i++) {
                Charged one = charged.get(i);
                Duration time = one.limit().reservedFor();
                longest = time.compareTo(longest) > 0 ? time : longest;
                hasEnd |=
                        !time.isZero() || one.limit().refunds() || one.policy().isInFlight();
            }
            this.reservedFor = longest;
            this.ended = hasEnd ? new CompletableFuture<>() : null;
        }

        /** Repeats the call: with its key and its cost, and the current policies. */
        ChargedCall again() {
            List<Map<String, Policy>> present = policies.get();
            return new ChargedCall(
                    call.again(),
                    charged.stream()
                            .map(one -> one.under(present.get(limits.indexOf(one.limit()))))
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
                return proceed(true);
            }
            Decision decision = decide();
            return decision.allowed() ? proceed(true) : deny(decision);
        }

        private Decision decide() {
            Charged first = charged.get(0);
            if (enforced == 1 && first.member() == null && ended == null) {
                return owner.rateLimiter.tryAcquire(first.policy(), first.key(), first.permits());
            }
            List<Charge> charges = charges(0, enforced);
            return reservedFor.isZero()
                    ? taken(
                            owner.rateLimiter.tryAcquire(
                                    PermitRequest.of(charges).withEnd()),
                            null)
                    : taken(owner.rateLimiter.reserve(charges, reservedFor));
        }

        /** Cancelling the future takes a call that waits out of its queue. */
        CompletableFuture<Decision> decideAsync() {
            List<Charge> charges = charges(0, enforced);
            if (!reservedFor.isZero()) {
                return owner.rateLimiter
                        .reserveAsync(charges, reservedFor)
                        .thenApply(this::taken)
                        .copy();
            }
            PermitRequest request = PermitRequest.of(charges).withEnd();
            boolean waits =
                    charged.stream().anyMatch(one -> !one.limit().maxWait().isZero());
            CompletableFuture<Decision> pending =
                    owner.rateLimiter.acquireAsync(waits ? request.withMaxWait(this::maxWait) : request);
            if (ended == null) {
                return pending;
            }
            CompletableFuture<Decision> known =
                    pending.thenApply(decision -> taken(decision, null)).copy();
            known.whenComplete((decision, failure) -> {
                if (waits && known.isCancelled()) {
                    pending.cancel(false);
                }
            });
            return known;
        }

        private Duration maxWait(Charge charge) {
            return with(charge)
                    .map(one -> one.limit().maxWait())
                    .min(Comparator.naturalOrder())
                    .orElse(Duration.ZERO);
        }

        /** What annotations charge by a charge. */
        private Stream<Charged> with(Charge charge) {
            return charged.stream().filter(one -> one.charge().isToSame(charge));
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
         * @param waits whether to wait for the refund if it fails
         */
        @Nullable
        Object proceed(boolean waits) throws Throwable {
            try {
                if (enforced < charged.size()) {
                    owner.shadow
                            .count(charges(enforced, charged.size()), place)
                            .forEach(one -> one.thenAccept(counted -> taken(counted, null)));
                }
                Object result = call.proceed();
                if (waits && hasEnd()) {
                    end(new End(true, result, null, true));
                }
                return result;
            } catch (Throwable failure) {
                end(new End(false, null, failure, waits));
                throw failure;
            }
        }

        /** Answers instead of the call. */
        @Nullable
        Object deny(Decision decision) throws Throwable {
            if (fallback == null) {
                throw new RateLimitExceededException(decision);
            }
            return fallback.answer(call, decision);
        }

        /** Whether something is to be done when the call has ended. */
        boolean hasEnd() {
            return ended != null;
        }

        /** Notes what is to be undone or settled at the end. */
        private Decision taken(Decision decision, @Nullable Hold made) {
            if (ended != null && decision.allowed()) {
                ended.thenAccept(how -> finish(decision, made, how));
            }
            return decision;
        }

        private Decision taken(Hold made) {
            return taken(made.decision(), made);
        }

        /**
         * The call has ended: frees its permits in flight, settles its estimates, and refunds what its failure refunds. Only the first
         * end counts. Never throws, so that a failure reaches the caller.
         */
        void end(End how) {
            if (ended != null) {
                ended.complete(how);
            }
        }

        private void finish(Decision decision, @Nullable Hold hold, End how) {
            // By names, not by policies: the outcomes of a local share have its limits, which are smaller than the
            // configured ones. All annotations with one charge must refund it.
            Throwable failure = how.failure();
            Predicate<Charge> back = charge ->
                    failure != null && with(charge).allMatch(one -> one.limit().refundsOn(failure));
            try {
                if (hold != null) {
                    owner.rateLimiter.settleAsync(hold, charge -> back.test(charge) ? 0 : actual(charge, how));
                } else if (failure != null && decision.charges().stream().anyMatch(back)) {
                    CompletionStage<Boolean> given = owner.rateLimiter.refundAsync(List.of(decision), back);
                    if (how.waits()) {
                        given.toCompletableFuture().join();
                    }
                }
            } catch (RuntimeException failed) {
                // What the call took is not given back.
            }
            owner.rateLimiter.end(decision);
        }

        /** The most that one of its annotations says; -1 if one can't tell. */
        private long actual(Charge charge, End how) {
            if (!how.isComplete()) {
                return HoldTerms.UNREPORTED;
            }
            return with(charge)
                    .mapToLong(one -> one.limit().reservedFor().isZero()
                            ? one.permits()
                            : one.limit().actual(call.arguments, how))
                    .reduce(0, (one, other) -> Math.min(one, other) < 0 ? -1 : Math.max(one, other));
        }
    }
}
