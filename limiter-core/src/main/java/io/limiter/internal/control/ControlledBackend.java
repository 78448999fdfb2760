package io.limiter.internal.control;

import io.limiter.Backend;
import io.limiter.BackendHealth;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.HoldTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A backend whose calls follow the directives in force: a charge to an overridden key goes to the same policy with other limits,
 * or to none. Where a policy has no directive, calls go on as they are. Thread-safe.
 */
public final class ControlledBackend implements Backend {
    private final Backend inner;
    private final InForce inForce;
    private final Overridden overridden;

    /**
     * A backend that follows directives.
     *
     * @param instances among how many the policies that it gets are shared; 1 for a shared backend
     */
    public ControlledBackend(Backend inner, InForce inForce, long instances) {
        this.inner = inner;
        this.inForce = inForce;
        this.overridden = new Overridden(instances);
    }

    @Override
    public Decider decider(Policy policy) {
        Decider plain = inner.decider(policy);
        String name = policy.name();
        return (key, permits, mode) -> {
            Directives now = inForce.directives();
            return now.isQuiet(name) || now.find(name, key, inForce::nowMicros) == null
                    ? plain.decideNow(key, permits, mode)
                    : decideNow(List.of(new Charge(policy, key, permits)), mode);
        };
    }

    @Override
    public Decision decideNow(List<Charge> charges, Mode mode) {
        Asked asked = asked(charges);
        if (asked == null) {
            return inner.decideNow(charges, mode);
        }
        return asked.isDecided() ? asked.decision() : asked.decision(inner.decideNow(asked.charges, mode));
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        Asked asked = asked(charges);
        if (asked == null) {
            return inner.decide(charges, mode);
        }
        return asked.isDecided()
                ? CompletableFuture.completedFuture(asked.decision())
                : inner.decide(asked.charges, mode).thenApply(asked::decision);
    }

    @Override
    public List<? extends CompletionStage<Decision>> decideEach(List<Charge> charges) {
        return asked(charges) == null
                ? inner.decideEach(charges)
                : charges.stream()
                        .map(charge -> decide(List.of(charge), Mode.TAKE))
                        .toList();
    }

    /** What is asked instead; null if no directive is about any of these charges. */
    private @Nullable Asked asked(List<Charge> charges) {
        Directives now = inForce.directives();
        Asked asked = null;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            String policy = charge.policy().name();
            Directive one = now.isQuiet(policy) ? null : now.find(policy, charge.key(), inForce::nowMicros);
            if (one != null && asked == null) {
                asked = new Asked(charges, i);
            }
            if (asked != null) {
                asked.add(charge, one);
            }
        }
        return asked;
    }

    /** A call after the directives. */
    private final class Asked {
        private final List<Charge> all;
        private final List<Charge> charges;
        private final List<Charge> denied = new ArrayList<>();
        private @Nullable Directive by;
        private boolean mayDeny;

        /** With the first charges, about which there is no directive. */
        Asked(List<Charge> all, int plain) {
            this.all = all;
            this.charges = new ArrayList<>(all.subList(0, plain));
            this.mayDeny = plain > 0;
        }

        void add(Charge charge, @Nullable Directive one) {
            Directive.Kind kind = one == null ? null : one.kind();
            if (one == null || kind == Directive.Kind.LIMITS) {
                charges.add(one == null ? charge : overridden.withLimits(charge, one));
                mayDeny = true;
            } else if (kind == Directive.Kind.UNLIMITED) {
                Charge block = overridden.withBlockOnly(charge);
                if (block != null) {
                    charges.add(block);
                    mayDeny = true;
                }
            } else if (kind == Directive.Kind.SHADOW) {
                charges.add(charge);
            } else if (kind != Directive.Kind.OFF) {
                denied.add(charge);
                by = one;
            }
        }

        boolean isDecided() {
            return by != null || charges.isEmpty();
        }

        /** Without asking: denied, or nothing is left to ask. */
        Decision decision() {
            Directive one = by;
            return one == null
                    ? Decision.of(Decision.Source.OVERRIDDEN, all, List.of())
                    : overridden.denial(denied, one, one.untilMicros() - inForce.nowMicros());
        }

        /** After the answer about what was asked. Of charges that shadow a denial is none. */
        Decision decision(Decision answer) {
            if (!answer.allowed() && !mayDeny) {
                return Decision.of(Decision.Source.OVERRIDDEN, all, List.of());
            }
            return charges.size() == all.size() || !answer.allowed()
                    ? answer
                    : Decision.of(answer.source(), all, answer.outcomes());
        }
    }

    /** Under an override's limits; where nothing is left to ask, nothing is held. */
    @Override
    public CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        Asked asked = asked(charges);
        if (asked == null) {
            return inner.reserve(charges, terms);
        }
        return asked.isDecided()
                ? CompletableFuture.completedFuture(asked.decision())
                : inner.reserve(asked.charges, terms).thenApply(asked::decision);
    }

    @Override
    public CompletionStage<List<Settled>> settle(
            Decision held, HoldTerms terms, ToLongFunction<? super Charge> actual) {
        return inner.settle(held, terms, actual);
    }

    @Override
    public CompletionStage<Boolean> refund(Decision decision) {
        return inner.refund(decision);
    }

    @Override
    public CompletionStage<Boolean> confirm(Decision decision) {
        return inner.confirm(decision);
    }

    @Override
    public void announce(Policy policy) {
        inner.announce(policy);
    }

    @Override
    public void retract(Policy policy) {
        inner.retract(policy);
    }

    /** Also the state under an override's limits. */
    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        Directive one = inForce.directives().find(policy.name(), key, inForce::nowMicros);
        CompletionStage<Void> reset = inner.reset(policy, key);
        if (one == null || one.kind() != Directive.Kind.LIMITS) {
            return reset;
        }
        Policy other = overridden.withLimits(new Charge(policy, key, 0), one).policy();
        return reset.thenCompose(done -> inner.reset(other, key));
    }

    @Override
    public BackendHealth health() {
        BackendHealth health = inner.health();
        List<String> found = inForce.findings();
        if (found.isEmpty()) {
            return health;
        }
        List<String> all = new ArrayList<>(health.findings());
        all.addAll(found);
        return new BackendHealth(health.servers(), all);
    }

    @Override
    public void close() {
        inner.close();
    }
}
