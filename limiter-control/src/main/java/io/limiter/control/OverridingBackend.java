package io.limiter.control;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.BackendHealth;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Penalty;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.HoldTerms;
import io.limiter.internal.Throttle;
import io.limiter.internal.backend.ForwardingBackend;
import io.limiter.internal.config.LimitText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * A backend whose calls follow the overrides and switches in force: a charge to an overridden key goes to the same policy with other
 * limits, or to none. Where a policy has no override or switch, calls go on as they are. Thread-safe.
 */
final class OverridingBackend extends ForwardingBackend {
    private static final Logger LOG = DiagnosticLog.of(OverridingBackend.class);
    private static final int MOST_KEPT = 1_000;
    private static final Throttle UNFIT = new Throttle(TimeSource.system()::nowMicros, 60_000_000);

    /** Limits that no policy has. */
    private static final Limit UNLIMITED = LimitText.parse(Limit.MAX_PERMITS + "/1s fixed name not-limited");

    private static final Limit BLOCKED = Limit.block(1, Duration.ofSeconds(1), Duration.ofDays(1), Duration.ofDays(1));

    private final Backend inner;
    private final InForce inForce;
    private final long instances;
    /** Policies under other limits, by what they are made of. Few: most overrides have the same limits as others. */
    private final Map<List<Object>, Policy> made = new ConcurrentHashMap<>();

    /**
     * A backend that follows overrides and switches.
     *
     * @param instances among how many the policies that it gets are shared; 1 for a shared backend
     */
    OverridingBackend(Backend inner, InForce inForce, long instances) {
        this.inner = inner;
        this.inForce = inForce;
        this.instances = instances;
    }

    @Override
    protected Backend inner() {
        return inner;
    }

    @Override
    public Decider decider(Policy policy) {
        return new Checked(policy, inner.decider(policy), new Seen(Entries.NONE, policy));
    }

    /** What is in force for a policy, found again only after a change. */
    private record Seen(Entries all, Entries.OfPolicy its) {
        Seen(Entries all, Policy policy) {
            this(all, all.of(policy.name()));
        }
    }

    private final class Checked implements Decider {
        private final Policy policy;
        private final Decider plain;
        /** Read without synchronization: a thread that sees an old one makes its own. */
        private Seen seen;

        Checked(Policy policy, Decider plain, Seen seen) {
            this.policy = policy;
            this.plain = plain;
            this.seen = seen;
        }

        @Override
        public Decision decideNow(PartitionKey key, long permits, Mode mode) {
            Entries now = inForce.entries();
            Seen last = seen;
            if (last.all != now) {
                last = new Seen(now, policy);
                seen = last;
            }
            return last.its.mayHave(key)
                    ? OverridingBackend.this.decideNow(List.of(new Charge(policy, key, permits)), mode)
                    : plain.decideNow(key, permits, mode);
        }
    }

    @Override
    public Decision decideNow(List<Charge> charges, Mode mode) {
        Call call = call(charges);
        return call == null
                ? inner.decideNow(charges, mode)
                : BackendException.join(decided(call, mode, some -> stage(inner.decideNow(some, mode)))
                        .toCompletableFuture());
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        Call call = call(charges);
        return call == null ? inner.decide(charges, mode) : decided(call, mode, some -> inner.decide(some, mode));
    }

    /** Under an override's limits; where nothing is left to ask, nothing is held. */
    @Override
    public CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        Call call = call(charges);
        return call == null
                ? inner.reserve(charges, terms)
                : decided(call, Mode.TAKE, some -> inner.reserve(some, terms));
    }

    /** What is enforced is asked first, then what shadows, by itself: so that it never denies what goes with it. */
    private CompletionStage<Decision> decided(
            Call call, Mode mode, Function<List<Charge>, CompletionStage<Decision>> ask) {
        Decision known = call.decided();
        if (known != null) {
            return stage(known);
        }
        if (call.shadows.isEmpty()) {
            return ask.apply(call.enforced).thenApply(call::answer);
        }
        if (call.enforced.isEmpty()) {
            return ask.apply(call.shadows)
                    .thenApply(aside -> aside.allowed()
                            ? call.answer(aside)
                            : call.uncounted().withShadow(aside));
        }
        return ask.apply(call.enforced)
                .thenCompose(answer -> answer.allowed() ? beside(call, answer, mode) : stage(answer));
    }

    private static CompletionStage<Decision> stage(Decision done) {
        return CompletableFuture.completedFuture(done);
    }

    /** Without an answer, the numbers of what shadows are lower. */
    private CompletionStage<Decision> beside(Call call, Decision answer, Mode mode) {
        try {
            return inner.decide(call.shadows, mode)
                    .handle((aside, failed) ->
                            failed == null ? call.answer(answer).withShadow(aside) : call.answer(answer));
        } catch (BackendException away) {
            return stage(call.answer(answer));
        }
    }

    @Override
    public List<? extends CompletionStage<Decision>> decideEach(List<Charge> charges) {
        return call(charges) == null
                ? inner.decideEach(charges)
                : charges.stream()
                        .map(charge -> decide(List.of(charge), Mode.TAKE))
                        .toList();
    }

    /** The call as it is made instead; null if no override or switch is about any of these charges. */
    private @Nullable Call call(List<Charge> charges) {
        Call call = null;
        for (int i = 0; i < charges.size(); i++) {
            Charge charge = charges.get(i);
            Entry one = inForce.find(charge.policy().name(), charge.key());
            if (one != null && call == null) {
                call = new Call(charges, i);
            }
            if (call != null) {
                call.add(charge, one);
            }
        }
        return call;
    }

    /** A call after the overrides and switches. */
    private final class Call {
        private final List<Charge> all;
        private final List<Charge> enforced;
        private final List<Charge> shadows = new ArrayList<>();
        private final List<Charge> denied = new ArrayList<>();
        private @Nullable Entry by;

        /** With the first charges, about which there is no override or switch. */
        Call(List<Charge> all, int plain) {
            this.all = all;
            this.enforced = new ArrayList<>(all.subList(0, plain));
        }

        void add(Charge charge, @Nullable Entry one) {
            if (one == null) {
                enforced.add(charge);
                return;
            }
            switch (one.to()) {
                case Entry.UNLIMITED -> Stream.ofNullable(withBlockOnly(charge)).forEach(enforced::add);
                case Entry.SHADOW -> shadows.add(withoutBlock(charge));
                case Entry.OFF -> {}
                case Entry.BLOCKED, Entry.DENY -> {
                    denied.add(charge);
                    by = one;
                }
                default -> enforced.add(withLimits(charge, one));
            }
        }

        /** What needs no asking: a denial, or nothing is left to ask; else null. */
        @Nullable
        Decision decided() {
            Entry one = by;
            if (one != null) {
                return denial(denied, one, one.untilMicros() - inForce.nowMicros());
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
        Entry one = inForce.find(charge.policy().name(), charge.key());
        return one == null || !one.isLimits() ? then : then.under(withLimits(charge, one));
    }

    /** Also the state under an override's limits. */
    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        Entry one = inForce.find(policy.name(), key);
        CompletionStage<Void> reset = inner.reset(policy, key);
        if (one == null || !one.isLimits()) {
            return reset;
        }
        Policy other = withLimits(new Charge(policy, key, 0), one).policy();
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

    /** The same charge under the limits of an override; the charge itself where they don't fit, which is logged. */
    private Charge withLimits(Charge charge, Entry one) {
        return under(
                charge,
                one.to(),
                policy -> policy.withLimits(Policy.of(policy.name(), LimitText.parseAll(one.to()))
                        .share(instances)
                        .limits()));
    }

    /** A charge that only a running block denies; null where the policy has none. */
    private @Nullable Charge withBlockOnly(Charge charge) {
        Penalty block = charge.policy().penalty();
        return block == null
                ? null
                : under(
                        charge,
                        "",
                        policy -> Policy.of(policy.name(), UNLIMITED, block)
                                .withFailureMode(policy.onFailure())
                                .withDeadline(policy.deadline())
                                .withHolds(policy.holds()));
    }

    /** A charge of what shadows: it does not count toward a block, which would be there when it is enforced again. */
    private Charge withoutBlock(Charge charge) {
        return charge.policy().penalty() == null ? charge : under(charge, "shadow", policy -> policy.withPenalty(null));
    }

    private Charge under(Charge charge, String limits, Function<Policy, Policy> make) {
        try {
            if (made.size() > MOST_KEPT) {
                made.clear();
            }
            Policy other = made.computeIfAbsent(List.of(charge.policy(), limits), key -> make.apply(charge.policy()));
            return new Charge(
                    other,
                    charge.key(),
                    charge.permits(),
                    charge.requestId(),
                    other.takesMembers() ? charge.member() : null);
        } catch (IllegalArgumentException unfit) {
            if (UNFIT.tryPass()) {
                LOG.warn(
                        "RL-508 the override '{}' of policy '{}' does not fit it, so the policy's own limits apply: {}",
                        limits,
                        charge.policy().name(),
                        unfit.getMessage());
            }
            return charge;
        }
    }

    /** The denial by an override "blocked", which is a block; or by the switch that denies everything. */
    private Decision denial(List<Charge> charges, Entry by, long leftMicros) {
        long left = Math.max(1, leftMicros);
        List<LimitOutcome> outcomes = new ArrayList<>();
        for (Charge charge : charges) {
            Limit limit = by.to().equals(Entry.BLOCKED)
                    ? BLOCKED
                    : charge.policy().limits().get(0);
            outcomes.add(LimitOutcome.of(charge, limit, false, 0, left, left, left, 0));
        }
        return Decision.of(Decision.Source.OVERRIDDEN, charges, outcomes);
    }
}
