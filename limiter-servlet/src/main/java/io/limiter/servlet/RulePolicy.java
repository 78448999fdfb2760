package io.limiter.servlet;

import io.limiter.DiagnosticLog;
import io.limiter.Policy;
import io.limiter.Throttle;
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
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * The policy of a request under a configured rule: that of the caller's plan, or the only one.
 *
 * @param policy returns it, as far as the plan is known
 * @param lookup begins the lookup of a plan that is not known; its result completes after the configured wait at the
 *     latest, never exceptionally. Null if there is nothing to look up
 */
record RulePolicy(Supplier<Policy> policy, @Nullable Supplier<CompletableFuture<?>> lookup) {
    private static final Logger LOG = DiagnosticLog.of(RulePolicy.class);

    /**
     * The policy of the rule for a request, directly after it has matched.
     *
     * @param classes provides the object of the class that the rule names
     * @throws IllegalArgumentException if the class can't be made
     */
    static Function<Dispatch, RulePolicy> of(
            RuleDefinition rule, RequestKey key, PlanSettings settings, NamedClasses classes) {
        RulePlans plans = rule.charging().plans();
        if (plans == null) {
            RulePolicy only = new RulePolicy(rule::policy, null);
            return dispatch -> only;
        }
        return switch (plans.source()) {
            case HEADER -> known(rule, dispatch -> only(dispatch.request(), plans.name()));
            case USER ->
                known(rule, dispatch -> UserAttribute.of(dispatch.request().getUserPrincipal(), plans.name()));
            case RESOLVER ->
                ofResolver(
                        rule,
                        plans,
                        key,
                        settings,
                        classes.get("limiter.rules." + rule.name() + ".plan", plans.name(), PlanResolver.class));
        };
    }

    private static Function<Dispatch, RulePolicy> known(
            RuleDefinition rule, Function<Dispatch, @Nullable String> plan) {
        return dispatch -> {
            Policy policy = policy(rule, plan.apply(dispatch));
            return new RulePolicy(() -> policy, null);
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

    private static Policy policy(RuleDefinition rule, @Nullable String plan) {
        RulePlans plans = rule.charging().plans();
        Policy policy = plan == null || plans == null ? null : plans.policies().get(plan);
        return policy == null ? rule.policy() : policy;
    }

    /** Null if there are several: a proxy that adds its own would keep that of the client. */
    private static @Nullable String only(HttpServletRequest request, String header) {
        Enumeration<String> values = request.getHeaders(header);
        String first = values == null || !values.hasMoreElements() ? null : values.nextElement();
        return first == null || values.hasMoreElements() ? null : first.strip();
    }

    private static Function<Dispatch, RulePolicy> ofResolver(
            RuleDefinition rule, RulePlans plans, RequestKey key, PlanSettings settings, PlanResolver resolver) {
        PlanLookup lookup = new PlanLookup(
                rule.name(),
                resolver,
                settings.longestWait(),
                settings.expiry(),
                settings.maxEntries(),
                settings.maxPerMinute(),
                plan -> policy(rule, plan) != rule.policy());
        RulePolicy byDefault = new RulePolicy(rule::policy, null);
        Throttle unknownLog = Throttle.hourly();
        return dispatch -> {
            String caller = key.caller(dispatch, dispatch);
            if (caller == null) {
                return byDefault;
            }
            String client = dispatch.network();
            Supplier<Policy> policy = () -> {
                String plan = lookup.plan(caller, client);
                boolean isUnknown = plan != null && !plans.policies().containsKey(plan);
                if (isUnknown && !dispatch.isSample() && unknownLog.tryPass()) {
                    LOG.warn(
                            "RL-316 rule '{}': {} returned the plan '{}', which is not configured, so the caller"
                                    + " gets the default plan; add limiter.plans.{}.limits, or correct the name. Logged once an hour",
                            rule.name(),
                            plans.name(),
                            plan,
                            plan);
                }
                return policy(rule, plan);
            };
            return new RulePolicy(policy, lookup.isDue(caller, client) ? () -> lookup.lookUp(caller, client) : null);
        };
    }
}
