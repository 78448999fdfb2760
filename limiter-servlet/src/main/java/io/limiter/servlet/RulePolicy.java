package io.limiter.servlet;

import io.limiter.DiagnosticLog;
import io.limiter.Policy;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import io.limiter.config.PlanSettings;
import io.limiter.config.RuleDefinition;
import io.limiter.config.RulePlans;
import io.limiter.rule.NamedClasses;
import io.limiter.rule.PlanLookup;
import io.limiter.rule.PlanResolver;
import io.limiter.servlet.key.RequestKey;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/** The policy of a request under a configured rule: that of the caller's plan, or the only one. */
final class RulePolicy {
    private static final Logger LOG = DiagnosticLog.of(RulePolicy.class);
    private static final long HOUR_MICROS = 3_600_000_000L;

    private RulePolicy() {}

    /**
     * The policy of the rule for a request, directly after it has matched.
     *
     * @param classes provides the object of the class that the rule names
     * @throws IllegalArgumentException if the class can't be made
     */
    static Function<Dispatch, Policy> of(
            RuleDefinition rule, RequestKey key, PlanSettings settings, NamedClasses classes) {
        RulePlans plans = rule.charging().plans();
        if (plans == null) {
            Policy only = rule.policy();
            return dispatch -> only;
        }
        Map<String, Policy> policies = plans.policies();
        Function<Dispatch, @Nullable String> plan = switch (plans.source()) {
            case HEADER -> dispatch -> only(dispatch.request(), plans.name());
            case USER -> dispatch -> UserAttribute.of(dispatch.request().getUserPrincipal(), plans.name());
            case RESOLVER -> ofResolver(rule.name(), plans, key, settings, make(rule.name(), plans, classes));
        };
        return dispatch -> {
            String found = plan.apply(dispatch);
            Policy policy = found == null ? null : policies.get(found);
            return policy == null ? rule.policy() : policy;
        };
    }

    static void addFindings(RuleDefinition rule, List<String> all) {
        RulePlans plans = rule.charging().plans();
        if (plans != null && plans.source() == RulePlans.Source.HEADER) {
            all.add(
                    "RL-168 rule '" + rule.name() + "' takes the plan from the header " + plans.name()
                            + ": a proxy must overwrite or remove the one that a client sends; otherwise clients choose their plans");
        }
    }

    /** Null if there are several: a proxy that adds its own would keep that of the client. */
    private static @Nullable String only(HttpServletRequest request, String header) {
        Enumeration<String> values = request.getHeaders(header);
        String first = values == null || !values.hasMoreElements() ? null : values.nextElement();
        return first == null || values.hasMoreElements() ? null : first.strip();
    }

    private static PlanResolver make(String rule, RulePlans plans, NamedClasses classes) {
        return classes.get("limiter.rules." + rule + ".plan", plans.name(), PlanResolver.class);
    }

    private static Function<Dispatch, @Nullable String> ofResolver(
            String rule, RulePlans plans, RequestKey key, PlanSettings settings, PlanResolver resolver) {
        PlanLookup lookup = new PlanLookup(
                rule,
                resolver,
                settings.longestWait(),
                settings.expiry(),
                settings.maxEntries(),
                settings.maxPerMinute());
        Throttle unknownLog = new Throttle(TimeSource.system(), HOUR_MICROS);
        return dispatch -> {
            String caller = key.caller(dispatch, dispatch);
            String plan = caller == null ? null : lookup.plan(caller);
            boolean isUnknown = plan != null && !plans.policies().containsKey(plan);
            if (isUnknown && !dispatch.isSample() && unknownLog.tryPass()) {
                LOG.warn(
                        "RL-316 rule '{}': {} returned the plan '{}', which is not configured, so the caller"
                                + " gets the default plan; add limiter.plans.{}.limits, or correct the name. Logged once an hour",
                        rule,
                        plans.name(),
                        plan,
                        plan);
            }
            return plan;
        };
    }
}
