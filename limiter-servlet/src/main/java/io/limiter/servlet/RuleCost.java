package io.limiter.servlet;

import io.limiter.DiagnosticLog;
import io.limiter.Limit;
import io.limiter.config.RequestCost;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.Cost;
import io.limiter.rule.NamedClasses;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Enumeration;
import java.util.regex.Pattern;
import org.slf4j.Logger;

/** The cost of a request under a configured rule. */
final class RuleCost {
    private static final Logger LOG = DiagnosticLog.of(RuleCost.class);
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}");

    private RuleCost() {}

    /**
     * The cost of the rule.
     *
     * @throws IllegalArgumentException if its class can't be made
     */
    @SuppressWarnings(
            "unchecked") // A class for another type of subject fails at the first request, which is not admitted.
    static Cost<? super HttpServletRequest> of(RuleDefinition rule, NamedClasses classes) {
        RequestCost cost = rule.charging().cost();
        String type = cost.type();
        String header = cost.header();
        if (type != null) {
            return (Cost<? super HttpServletRequest>)
                    classes.get("limiter.rules." + rule.name() + ".cost", type, Cost.class);
        }
        if (header != null) {
            warnOfACapThatNeverPasses(rule);
            return request -> ofHeader(request.getHeaders(header), cost.permits());
        }
        if (cost.permits() == 0) {
            LOG.warn("RL-167 rule '{}' has cost = 0: it only shows the quota, and denies nothing", rule.name());
        }
        return request -> cost.permits();
    }

    /** A client must not reduce its cost with an unreadable value. */
    private static long ofHeader(Enumeration<String> values, long most) {
        if (values == null || !values.hasMoreElements()) {
            return 1;
        }
        String text = values.nextElement().strip();
        if (values.hasMoreElements() || !NUMBER.matcher(text).matches()) {
            return most;
        }
        long permits = Long.parseLong(text);
        return permits < 1 ? most : Math.min(permits, most);
    }

    private static void warnOfACapThatNeverPasses(RuleDefinition rule) {
        for (Limit limit : rule.policies().stream()
                .flatMap(policy -> policy.limits().stream())
                .toList()) {
            if (rule.charging().cost().exceeds(limit)) {
                LOG.warn(
                        "RL-166 rule '{}' has max-cost = {}, and its limit '{}' grants at most {} at once: a request"
                                + " that costs more is never allowed; write a smaller max-cost or a greater limit",
                        rule.name(),
                        rule.charging().cost().permits(),
                        limit,
                        limit.capacity());
            }
        }
    }
}
