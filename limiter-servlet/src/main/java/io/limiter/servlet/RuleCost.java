package io.limiter.servlet;

import io.limiter.config.RequestCost;
import io.limiter.config.RuleDefinition;
import io.limiter.rule.Cost;
import io.limiter.rule.NamedClasses;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Enumeration;
import java.util.List;
import java.util.regex.Pattern;

/** The cost of a request under a configured rule. */
final class RuleCost {
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
            return request -> ofHeader(request.getHeaders(header), cost.permits());
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

    static void addFindings(RuleDefinition rule, List<String> all) {
        RequestCost cost = rule.charging().cost();
        if (cost.isFree()) {
            all.add("RL-167 rule '" + rule.name() + "' has cost = 0: it only shows the quota, and denies nothing");
        }
        if (cost.header() != null) {
            rule.policies().stream()
                    .flatMap(policy -> policy.limits().stream())
                    .filter(cost::exceeds)
                    .forEach(
                            limit -> all.add(
                                    "RL-166 rule '" + rule.name() + "' has max-cost = " + cost.permits()
                                            + ", and its limit '" + limit + "' grants at most " + limit.capacity()
                                            + " at once: a request that costs more is never allowed; write a smaller max-cost or a greater limit"));
        }
    }
}
