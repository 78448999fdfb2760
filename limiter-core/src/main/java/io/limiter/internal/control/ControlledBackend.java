package io.limiter.internal.control;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.HoldTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
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
        return new Following(policy, inner.decider(policy), new Seen(Directives.NONE, policy));
    }

    /** What is in force for a policy, found again only after a change. */
    private record Seen(Directives all, Directives.OfPolicy mine) {
        Seen(Directives all, Policy policy) {
            this(all, all.of(policy.name()));
        }
    }

    private final class Following implements Decider {
        private final Policy policy;
        private final Decider plain;
        /** Read without synchronization: a thread that sees an old one makes its own. */
        private Seen seen;

        Following(Policy policy, Decider plain, Seen seen) {
            this.policy = policy;
            this.plain = plain;
            this.seen = seen;
        }

        @Override
        public Decision decideNow(PartitionKey key, long permits, Mode mode) {
            Directives now = inForce.directives();
            Seen last = seen;
            if (last.all != now) {
                last = new Seen(now, policy);
                seen = last;
            }
            return last.mine.mayHave(key)
                    ? ControlledBackend.this.decideNow(List.of(new Charge(policy, key, permits)), mode)
                    : plain.decideNow(key, permits, mode);
        }
    }

    @Override
    public Decision decideNow(List<Charge> charges, Mode mode) {
        Asked asked = asked(charges);
        if (asked == null) {
            return inner.decideNow(charges, mode);
        }
        return asked.isDecided() ? asked.decision() : asked.decision(inner.decideNow(asked.charges(), mode), mode);
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        Asked asked = asked(charges);
        if (asked == null) {
            return inner.decide(charges, mode);
        }
        return asked.isDecided()
                ? CompletableFuture.completedFuture(asked.decision())
                : inner.decide(asked.charges(), mode).thenApply(answer -> asked.decision(answer, mode));
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
        Asked asked = null;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            Directive one = inForce.find(charge.policy().name(), charge.key());
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
        private final List<Charge> enforced;
        private final List<Charge> shadows = new ArrayList<>();
        private final List<Charge> denied = new ArrayList<>();
        private @Nullable Directive by;

        /** With the first charges, about which there is no directive. */
        Asked(List<Charge> all, int plain) {
            this.all = all;
            this.enforced = new ArrayList<>(all.subList(0, plain));
        }

        void add(Charge charge, @Nullable Directive one) {
            switch (one == null ? Directive.Kind.REMOVED : one.kind()) {
                case REMOVED -> enforced.add(charge);
                case LIMITS -> enforced.add(overridden.withLimits(charge, Objects.requireNonNull(one)));
                case UNLIMITED ->
                    Stream.ofNullable(overridden.withBlockOnly(charge)).forEach(enforced::add);
                case SHADOW -> shadows.add(overridden.withoutBlock(charge));
                case OFF -> {}
                case BLOCKED, DENY -> {
                    denied.add(charge);
                    by = one;
                }
            }
        }

        /** Those that shadow are asked by themselves, so that they never deny what goes with them. */
        List<Charge> charges() {
            return enforced.isEmpty() ? shadows : enforced;
        }

        boolean isDecided() {
            return by != null || charges().isEmpty();
        }

        /** Without asking: denied, or nothing is left to ask. */
        Decision decision() {
            Directive one = by;
            return one == null
                    ? Decision.of(Decision.Source.OVERRIDDEN, all, List.of())
                    : overridden.denial(denied, one, one.untilMicros() - inForce.nowMicros());
        }

        /** After the answer about what was asked. Of charges that shadow a denial is none. */
        Decision decision(Decision answer, Mode mode) {
            if (enforced.isEmpty() && !answer.allowed()) {
                return Decision.of(Decision.Source.OVERRIDDEN, all, List.of());
            }
            if (!enforced.isEmpty() && !shadows.isEmpty() && answer.allowed()) {
                count(mode);
            }
            return charges().size() == all.size() || !answer.allowed()
                    ? answer
                    : Decision.of(answer.source(), all, answer.outcomes());
        }

        /** Nobody waits for the answer; without one, the numbers of what shadows are lower. */
        private void count(Mode mode) {
            try {
                inner.decide(shadows, mode);
            } catch (BackendException away) {
                // The charges that are enforced were decided.
            }
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
                : inner.reserve(asked.charges(), terms).thenApply(answer -> asked.decision(answer, Mode.TAKE));
    }

    @Override
    public CompletionStage<List<Settled>> settle(
            Decision held, HoldTerms terms, ToLongFunction<? super Charge> actual) {
        List<LimitOutcome> now = held.outcomes().stream().map(this::inForce).toList();
        List<Charge> charges = now.stream().map(LimitOutcome::charge).distinct().toList();
        return inner.settle(Decision.of(held.source(), charges, now), terms, actual);
    }

    /** Under an override's limits, if it has that limit: under others the state would change. */
    private LimitOutcome inForce(LimitOutcome then) {
        Charge charge = then.charge();
        Directive one = inForce.find(charge.policy().name(), charge.key());
        if (one == null || one.kind() != Directive.Kind.LIMITS) {
            return then;
        }
        Charge now = overridden.withLimits(charge, one);
        return now.policy().limits().stream()
                .filter(limit -> limit.spec().algorithm() == then.limit().spec().algorithm()
                        && limit.spec().identity().equals(then.limit().spec().identity()))
                .findFirst()
                .map(limit -> new LimitOutcome(now, limit, true, 0, 0, 0, 0, then.stampMicros()))
                .orElse(then);
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
        Directive one = inForce.find(policy.name(), key);
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
