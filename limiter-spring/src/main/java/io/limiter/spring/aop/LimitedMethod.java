package io.limiter.spring.aop;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.RateLimiter;
import io.limiter.rule.Rule;
import io.limiter.spring.RateLimitExceededException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** Everything that is known of a limited method before it is called. Thread-safe. */
final class LimitedMethod {
    private final MethodSite site;
    private final RateLimiter limiter;
    private final Shadow shadow;
    private final LimitedMethods.Rules rules;
    private final @Nullable Fallback fallback;
    private final Answer answer;

    LimitedMethod(
            MethodSite site,
            RateLimiter limiter,
            Shadow shadow,
            LimitedMethods.Rules rules,
            @Nullable Fallback fallback,
            Answer answer) {
        this.site = site;
        this.limiter = limiter;
        this.shadow = shadow;
        this.rules = rules;
        this.fallback = fallback;
        this.answer = answer;
    }

    MethodSite site() {
        return site;
    }

    /** What its annotations say, in their order. */
    List<AnnotatedPolicy> policies() {
        return rules.policies();
    }

    /** Calls the method if it may be called, in the way of what it returns. */
    @Nullable
    Object call(MethodCall call) throws Throwable {
        // Who made which charge matters only where some come back.
        List<Rule<? super MethodCall>> owners = rules.refunds() ? new ArrayList<>() : List.of();
        List<Charge> charges = rules.enforced().charges(call, rules.refunds() ? owners : null);
        if (rules.shadows().size() == 0) {
            return charges.isEmpty()
                    ? call.proceed()
                    : answer.call(new Question(call, charges, owners, List.of(), List.of()));
        }
        List<Rule<? super MethodCall>> shadowOwners = new ArrayList<>();
        List<Charge> counted = rules.shadows().charges(call, shadowOwners);
        for (int i = counted.size() - 1; i >= 0; i--) {
            // The enforced charge counts for both.
            if (Taken.isAmong(charges, counted.get(i))) {
                counted.remove(i);
                shadowOwners.remove(i);
            }
        }
        return charges.isEmpty() && counted.isEmpty()
                ? call.proceed()
                : answer.call(new Question(call, charges, owners, counted, rules.refunds() ? shadowOwners : List.of()));
    }

    /** A call with what it costs: asked once for each time that it is made. */
    final class Question {
        private final MethodCall call;
        private final List<Charge> charges;
        private final List<Rule<? super MethodCall>> owners;
        private final List<Charge> counted;
        private final List<Rule<? super MethodCall>> shadowOwners;

        private Question(
                MethodCall call,
                List<Charge> charges,
                List<Rule<? super MethodCall>> owners,
                List<Charge> counted,
                List<Rule<? super MethodCall>> shadowOwners) {
            this.call = call;
            this.charges = charges;
            this.owners = owners;
            this.counted = counted;
            this.shadowOwners = shadowOwners;
        }

        MethodCall call() {
            return call;
        }

        /** Whether nothing can deny it. */
        boolean isFree() {
            return charges.isEmpty();
        }

        Decision ask() {
            return limiter.tryAcquire(charges);
        }

        CompletionStage<Decision> askAsync() {
            return limiter.tryAcquireAsync(charges);
        }

        /** What the call has taken, from the moment that it may be made. */
        Taken taken(@Nullable Decision decision) {
            List<CompletionStage<Decision>> shadows = new ArrayList<>(counted.size());
            for (Charge charge : counted) {
                shadows.add(shadow.count(charge, site));
            }
            return new Taken(limiter, decision, owners, shadows, shadowOwners);
        }

        /** Instead of the call. */
        @Nullable
        Object denied(Decision decision) throws Throwable {
            if (fallback != null) {
                return fallback.answer(call, decision);
            }
            throw new RateLimitExceededException(decision);
        }
    }
}
