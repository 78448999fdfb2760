package io.limiter.internal.control;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.internal.Access;
import io.limiter.internal.HoldTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A backend whose calls follow the directives in force: a charge to an overridden key goes to the same policy with other limits,
 * or to none. Where a policy has no directive, calls go on as they are. Thread-safe.
 */
public final class ControlledBackend extends ForwardingBackend {
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
    protected Backend inner() {
        return inner;
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
        return asked == null
                ? inner.decideNow(charges, mode)
                : BackendException.join(
                        Access.LIBRARY,
                        decided(asked, mode, some -> stage(inner.decideNow(some, mode)))
                                .toCompletableFuture());
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        Asked asked = asked(charges);
        return asked == null ? inner.decide(charges, mode) : decided(asked, mode, some -> inner.decide(some, mode));
    }

    /** Under an override's limits; where nothing is left to ask, nothing is held. */
    @Override
    public CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        Asked asked = asked(charges);
        return asked == null
                ? inner.reserve(charges, terms)
                : decided(asked, Mode.TAKE, some -> inner.reserve(some, terms));
    }

    /** What is enforced is asked first, then what shadows, by itself: so that it never denies what goes with it. */
    private CompletionStage<Decision> decided(
            Asked asked, Mode mode, Function<List<Charge>, CompletionStage<Decision>> ask) {
        Decision known = asked.decided();
        if (known != null) {
            return stage(known);
        }
        if (asked.shadows.isEmpty()) {
            return ask.apply(asked.enforced).thenApply(asked::answer);
        }
        if (asked.enforced.isEmpty()) {
            return ask.apply(asked.shadows)
                    .thenApply(aside -> aside.allowed()
                            ? asked.answer(aside)
                            : asked.uncounted().withShadow(Access.LIBRARY, aside));
        }
        return ask.apply(asked.enforced)
                .thenCompose(answer -> answer.allowed() ? beside(asked, answer, mode) : stage(answer));
    }

    private static CompletionStage<Decision> stage(Decision done) {
        return CompletableFuture.completedFuture(done);
    }

    /** Without an answer, the numbers of what shadows are lower. */
    private CompletionStage<Decision> beside(Asked asked, Decision answer, Mode mode) {
        try {
            return inner.decide(asked.shadows, mode)
                    .handle((aside, failed) -> failed == null
                            ? asked.answer(answer).withShadow(Access.LIBRARY, aside)
                            : asked.answer(answer));
        } catch (BackendException away) {
            return stage(asked.answer(answer));
        }
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
                // The two others are about no charge.
                case OFF, TEXT, CANDIDATE -> {}
                case BLOCKED, DENY -> {
                    denied.add(charge);
                    by = one;
                }
            }
        }

        /** What needs no asking: a denial, or nothing is left to ask; else null. */
        @Nullable
        Decision decided() {
            Directive one = by;
            if (one != null) {
                return overridden.denial(denied, one, one.untilMicros() - inForce.nowMicros());
            }
            return enforced.isEmpty() && shadows.isEmpty() ? uncounted() : null;
        }

        Decision uncounted() {
            return Decision.of(Decision.Source.OVERRIDDEN, all, List.of());
        }

        /** About all charges, after the answer about some. */
        Decision answer(Decision answer) {
            return !answer.allowed() || answer.charges().size() == all.size()
                    ? answer
                    : Decision.of(answer.source(), all, answer.outcomes());
        }
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
                .map(limit -> LimitOutcome.of(now, limit, true, 0, 0, 0, 0, then.stampMicros()))
                .orElse(then);
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
}
