package io.limiter.http.internal;

import io.limiter.Limit;
import io.limiter.Penalty;
import io.limiter.Policy;
import io.limiter.Stock;
import io.limiter.TimeSource;
import io.limiter.internal.DiagnosticLog;
import io.limiter.internal.Throttle;
import io.limiter.rule.PlanResolver;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * Makes policies of the limits that a resolver returns in place of a plan: the policy of the default plan with other limits.
 * Thread-safe.
 */
final class TenantLimits implements PlanResolver {
    private static final Logger LOG = DiagnosticLog.of(TenantLimits.class);
    /** Different ones; each has a policy in the tables of the backends. */
    static final int MOST = 1_000;

    private final String rule;
    private final Policy byDefault;
    private final PlanResolver resolver;
    private final Map<List<?>, Policy> known = new ConcurrentHashMap<>();
    private final Throttle log = Throttle.hourly(TimeSource.system()::nowMicros);

    TenantLimits(String rule, Policy byDefault, PlanResolver resolver) {
        this.rule = rule;
        this.byDefault = byDefault;
        this.resolver = resolver;
    }

    @Override
    public @Nullable Object plan(String caller) throws Exception {
        return policy(resolver.plan(caller));
    }

    @Override
    public CompletionStage<? extends @Nullable Object> planAsync(String caller) throws Exception {
        return resolver.planAsync(caller).thenApply(this::policy);
    }

    /** The plan itself unless it is limits; of limits that can't be used null, which is logged. */
    private @Nullable Object policy(@Nullable Object plan) {
        List<?> limits =
                plan instanceof Limit one ? List.of(one) : plan instanceof List<?> some ? new ArrayList<>(some) : null;
        if (limits == null) {
            return plan;
        }
        try {
            Policy policy = known.get(limits);
            if (policy == null && known.size() >= MOST) {
                throw new IllegalArgumentException("there are " + MOST + " different ones already; round the numbers");
            }
            return policy != null ? policy : known.computeIfAbsent(limits, this::made);
        } catch (IllegalArgumentException unfit) {
            if (log.tryPass()) {
                LOG.warn(
                        "RL-342 rule '{}': the limits {} of a caller can't be used, so the caller has the default plan: {}."
                                + " Logged once an hour",
                        rule,
                        limits.stream().limit(5).toList(),
                        unfit.getMessage());
            }
            return null;
        }
    }

    private Policy made(List<?> limits) {
        List<Limit> all = new ArrayList<>();
        for (Object one : limits) {
            if (!(one instanceof Limit limit)) {
                throw new IllegalArgumentException("each must be a Limit, and one is " + one);
            }
            all.add(limit);
        }
        Penalty penalty = byDefault.penalty();
        if (penalty != null && all.stream().noneMatch(Penalty.class::isInstance)) {
            all.add(penalty);
        }
        Policy policy = Policy.of(byDefault.name(), all);
        if (policy.takesMembers() != byDefault.takesMembers() || all.stream().anyMatch(Stock.class::isInstance)) {
            throw new IllegalArgumentException("limits that count members can't replace others, and a stock none");
        }
        return policy.withFailureMode(byDefault.onFailure())
                .withDeadline(byDefault.deadline())
                .withHolds(byDefault.holds());
    }
}
