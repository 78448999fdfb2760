package io.limiter.internal.control;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Penalty;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.Access;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Throttle;
import io.limiter.internal.config.LimitText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The charges of overridden keys. Thread-safe. */
final class Overridden {
    private static final Logger LOG = DiagnosticLog.of(Overridden.class);
    private static final int MOST_KEPT = 1_000;
    private static final Throttle UNFIT = new Throttle(TimeSource.system()::nowMicros, 60_000_000);

    /** Limits that no policy has. */
    private static final Limit UNLIMITED = LimitText.parse(Limit.MAX_PERMITS + "/1s fixed name not-limited");

    private static final Limit BLOCKED = Limit.block(1, Duration.ofSeconds(1), Duration.ofDays(1), Duration.ofDays(1));

    private final long instances;
    /** By what they are made of. Few: most overrides have the same limits as others. */
    private final Map<List<Object>, Policy> made = new ConcurrentHashMap<>();

    Overridden(long instances) {
        this.instances = instances;
    }

    /** The same charge under the limits of an override; the charge itself where they don't fit, which is logged. */
    Charge withLimits(Charge charge, Directive one) {
        return under(
                charge,
                one.value(),
                policy -> policy.withLimits(
                        Access.LIBRARY,
                        Policy.of(policy.name(), LimitText.parseAll(one.value()))
                                .share(Access.LIBRARY, instances)
                                .limits()));
    }

    /** A charge that only a running block denies; null where the policy has none. */
    @Nullable
    Charge withBlockOnly(Charge charge) {
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
    Charge withoutBlock(Charge charge) {
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
    Decision denial(List<Charge> charges, Directive by, long leftMicros) {
        long left = Math.max(1, leftMicros);
        List<LimitOutcome> outcomes = new ArrayList<>();
        for (Charge charge : charges) {
            Limit limit = by.kind() == Directive.Kind.BLOCKED
                    ? BLOCKED
                    : charge.policy().limits().get(0);
            outcomes.add(LimitOutcome.of(charge, limit, false, 0, left, left, left, 0));
        }
        return Decision.of(Decision.Source.OVERRIDDEN, charges, outcomes);
    }
}
