package io.limiter.http.internal;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.Throttle;
import io.limiter.rule.PlanResolver;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes policies of the limits that a resolver returns in place of a plan: the policy of the default plan with other limits.
 * Thread-safe.
 */
final class TenantLimits implements PlanResolver {
    private static final Logger LOG = LoggerFactory.getLogger(TenantLimits.class);
    /** Different ones; each has a policy in the tables of the backends. One that no caller had for an hour makes room. */
    static final int MOST = 1_000;

    private static final long UNUSED_MICROS = 3_600_000_000L;

    /** A policy that was made, and when a caller had it last. */
    private record Known(Policy policy, long usedMicros) {}

    private final String rule;
    private final Policy byDefault;
    private final PlanResolver resolver;
    private final TimeSource time;
    private final Throttle log;
    /** The policies that were made, by their limits. Guarded by this. */
    private final Map<List<Limit>, Known> byLimits = new HashMap<>();

    TenantLimits(String rule, Policy byDefault, PlanResolver resolver, TimeSource time) {
        this.time = time;
        this.log = Throttle.hourly(time::nowMicros);
        this.rule = rule;
        this.byDefault = byDefault;
        this.resolver = resolver;
    }

    /** The plan itself unless it is limits; of limits that can't be used null, which is logged. */
    @Override
    public @Nullable Object plan(String caller) throws Exception {
        Object plan = resolver.plan(caller);
        List<?> limits = plan instanceof Limit ? List.of(plan) : plan instanceof List<?> several ? several : null;
        if (limits == null) {
            return plan;
        }
        try {
            return policy(limits.stream()
                    .map(one -> Limit.class.cast(Objects.requireNonNull(one, "one is null")))
                    .toList());
        } catch (IllegalArgumentException | ClassCastException | NullPointerException unfit) {
            if (log.tryPass()) {
                LOG.warn(
                        "RL-342 rule '{}': the limits {} of a caller can't be used, so the caller has the default"
                                + " plan: {}. Logged once an hour",
                        rule,
                        limits.stream().limit(5).toList(),
                        unfit.getMessage());
            }
            return null;
        }
    }

    private synchronized Policy policy(List<Limit> limits) {
        long now = time.nowMicros();
        Known known = byLimits.get(limits);
        if (known == null && byLimits.size() >= MOST) {
            byLimits.values().removeIf(one -> now - one.usedMicros > UNUSED_MICROS);
        }
        if (known == null && byLimits.size() >= MOST) {
            throw new IllegalArgumentException("there are " + MOST + " different ones already; round the numbers");
        }
        Policy policy = known == null ? byDefault.withLimits(limits) : known.policy;
        byLimits.put(limits, new Known(policy, now));
        return policy;
    }
}
