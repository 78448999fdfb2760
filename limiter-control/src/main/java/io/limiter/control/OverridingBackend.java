package io.limiter.control;

import io.limiter.Backend;
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
 * limits, or to none. Calls about which there is none go on as they are. Thread-safe.
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

    private @Nullable Entry find(Charge charge) {
        return inForce.find(charge.policy().name(), charge.key());
    }

    private boolean isPlain(List<Charge> charges) {
        for (Charge charge : charges) {
            if (find(charge) != null) {
                return false;
            }
        }
        return true;
    }

    @Override
    public Decider decider(Policy policy) {
        Decider plain = inner.decider(policy);
        Decider overridden = super.decider(policy);
        return (key, permits, mode) ->
                (inForce.find(policy.name(), key) == null ? plain : overridden).decideNow(key, permits, mode);
    }

    // Where an override or switch is in force, these take the slower way by decide(), which has what they do.

    @Override
    public Decision decideNow(List<Charge> charges, Mode mode) {
        return isPlain(charges) ? inner.decideNow(charges, mode) : super.decideNow(charges, mode);
    }

    @Override
    public List<? extends CompletionStage<Decision>> decideEach(List<Charge> charges) {
        return isPlain(charges) ? inner.decideEach(charges) : super.decideEach(charges);
    }

    @Override
    public CompletionStage<Decision> decide(List<Charge> charges, Mode mode) {
        return isPlain(charges)
                ? inner.decide(charges, mode)
                : overridden(charges, counted -> inner.decide(counted, mode));
    }

    /** Under an override's limits; where nothing is left to ask, nothing is held. */
    @Override
    public CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        return isPlain(charges)
                ? inner.reserve(charges, terms)
                : overridden(charges, counted -> inner.reserve(counted, terms));
    }

    /** Asks about each charge that is counted, unless one of them is denied. The answer is about all of them. */
    private CompletionStage<Decision> overridden(
            List<Charge> charges, Function<List<Charge>, CompletionStage<Decision>> ask) {
        List<Charge> counted = new ArrayList<>();
        List<LimitOutcome> denied = new ArrayList<>();
        for (Charge charge : charges) {
            Entry one = find(charge);
            if (one == null) {
                counted.add(charge);
                continue;
            }
            switch (one.to()) {
                case Entry.UNLIMITED, Entry.OFF -> {}
                case Entry.BLOCKED -> denied.add(denial(charge, BLOCKED, one));
                case Entry.DENY ->
                    denied.add(denial(charge, charge.policy().limits().get(0), one));
                default -> counted.add(withLimits(charge, one));
            }
        }
        if (!denied.isEmpty() || counted.isEmpty()) {
            List<Charge> its = denied.isEmpty()
                    ? charges
                    : denied.stream().map(LimitOutcome::charge).toList();
            return CompletableFuture.completedFuture(Decision.of(Decision.Source.OVERRIDDEN, its, denied));
        }
        return ask.apply(counted)
                .thenApply(answer -> answer.allowed() && counted.size() < charges.size()
                        ? Decision.of(answer.source(), charges, answer.outcomes())
                        : answer);
    }

    /** Until the end of what denies it. */
    private LimitOutcome denial(Charge charge, Limit limit, Entry by) {
        long left = Math.max(1, by.untilMicros() - inForce.nowMicros());
        return LimitOutcome.of(charge, limit, false, 0, left, left, left, 0);
    }

    @Override
    public CompletionStage<List<Settled>> settle(
            Decision held, HoldTerms terms, ToLongFunction<? super Charge> actual) {
        List<LimitOutcome> now = held.outcomes().stream().map(this::inForce).toList();
        List<Charge> charges = now.stream().map(LimitOutcome::charge).distinct().toList();
        return inner.settle(Decision.of(held.source(), charges, now), terms, actual);
    }

    private LimitOutcome inForce(LimitOutcome then) {
        Charge now = withLimits(then.charge());
        return now == then.charge() ? then : then.under(now);
    }

    /** Under an override's limits, which also have the policy's block. */
    @Override
    public CompletionStage<Void> reset(Policy policy, PartitionKey key) {
        return inner.reset(withLimits(new Charge(policy, key, 0)).policy(), key);
    }

    @Override
    public Backend.Health health() {
        Backend.Health health = inner.health();
        List<String> all = new ArrayList<>(health.findings());
        all.addAll(inForce.findings());
        return new Backend.Health(health.servers(), all);
    }

    /** A charge under the limits of the override in force: under others its state would change. The same if there is none. */
    private Charge withLimits(Charge charge) {
        Entry one = find(charge);
        return one != null && one.isLimits() ? withLimits(charge, one) : charge;
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
                        "RL-508 override '{}' does not fit policy '{}', whose own limits apply: {}. Logged once a minute",
                        one.to(),
                        policy.name(),
                        unfit.getMessage());
            }
            return charge;
        }
    }
}
