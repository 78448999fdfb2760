package io.limiter.control;

import io.limiter.Backend;
import io.limiter.BackendHealth;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
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
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A backend whose calls follow the overrides and switches in force: a charge to an overridden key goes to the same policy with other
 * limits, or to none. Where a policy has no override or switch, calls go on as they are. Thread-safe.
 */
final class OverridingBackend extends ForwardingBackend {
    private static final Logger LOG = LoggerFactory.getLogger(OverridingBackend.class);
    private static final int MOST_KEPT = 1_000;
    private static final Throttle UNFIT = new Throttle(TimeSource.system()::nowMicros, 60_000_000);

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
        return new Checked(policy, inner.decider(policy), new Seen(inForce.entries(), policy));
    }

    /** What is in force for a policy, found again only after a change. */
    private record Seen(InForce.Entries all, InForce.OfPolicy its) {
        Seen(InForce.Entries all, Policy policy) {
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
            InForce.Entries now = inForce.entries();
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
        if (call == null) {
            return inner.decideNow(charges, mode);
        }
        Decision known = call.decided();
        return known == null ? call.answer(inner.decideNow(call.left, mode)) : known;
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        Call call = call(charges);
        return call == null ? inner.decide(charges, mode) : decided(call, some -> inner.decide(some, mode));
    }

    /** Under an override's limits; where nothing is left to ask, nothing is held. */
    @Override
    public CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        Call call = call(charges);
        return call == null ? inner.reserve(charges, terms) : decided(call, some -> inner.reserve(some, terms));
    }

    private static CompletionStage<Decision> decided(Call call, Function<List<Charge>, CompletionStage<Decision>> ask) {
        Decision known = call.decided();
        return known == null ? ask.apply(call.left).thenApply(call::answer) : CompletableFuture.completedFuture(known);
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
        /** What is asked: each charge that is counted. */
        private final List<Charge> left;

        private final List<Charge> denied = new ArrayList<>();
        private @Nullable Entry by;

        /** With the first charges, about which there is no override or switch. */
        Call(List<Charge> all, int plain) {
            this.all = all;
            this.left = new ArrayList<>(all.subList(0, plain));
        }

        void add(Charge charge, @Nullable Entry one) {
            if (one == null) {
                left.add(charge);
                return;
            }
            switch (one.to()) {
                case Entry.UNLIMITED, Entry.OFF -> {}
                case Entry.BLOCKED, Entry.DENY -> {
                    denied.add(charge);
                    by = one;
                }
                default -> left.add(withLimits(charge, one));
            }
        }

        /** What needs no asking: a denial, or nothing is left to ask; else null. */
        @Nullable
        Decision decided() {
            Entry one = by;
            if (one != null) {
                return denial(denied, one, one.untilMicros() - inForce.nowMicros());
            }
            return left.isEmpty() ? Decision.of(Decision.Source.OVERRIDDEN, all, List.of()) : null;
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

    /** Under an override's limits, which also have the policy's block. */
    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        Entry one = inForce.find(policy.name(), key);
        return inner.reset(
                one == null || !one.isLimits()
                        ? policy
                        : withLimits(new Charge(policy, key, 0), one).policy(),
                key);
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
        Policy policy = charge.policy();
        try {
            if (made.size() > MOST_KEPT) {
                made.clear();
            }
            Policy other = made.computeIfAbsent(
                    List.of(policy, one.to()),
                    key -> policy.withLimits(Policy.of(policy.name(), LimitText.parseAll(one.to()))
                            .share(instances)
                            .limits()));
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
                        one.to(),
                        policy.name(),
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
