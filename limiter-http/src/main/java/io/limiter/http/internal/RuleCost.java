package io.limiter.http.internal;

import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.internal.config.RequestCost;
import io.limiter.internal.config.RuleDefinition;
import io.limiter.rule.Cost;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The cost of a request under a configured rule. */
final class RuleCost {
    private static final Pattern NUMBER = Pattern.compile("[0-9]+");
    private static final int DIGITS = 18;

    private RuleCost() {}

    /**
     * The cost of the rule; negative if its class fails, see {@link #most}.
     *
     * @throws IllegalArgumentException if its class can't be made
     */
    @SuppressWarnings("unchecked") // A class for another type of request fails at each request.
    static ToLongFunction<RuleRequest> of(RuleDefinition rule, NamedClasses classes) {
        RequestCost cost = rule.charging().cost();
        String type = cost.type();
        String header = cost.header();
        if (type != null) {
            Cost<Object> own = classes.get("limiter.rules." + rule.name() + ".cost", type, Cost.class);
            Function<RuleRequest, @Nullable Long> tried = NamedClasses.tried(
                    request -> {
                        long permits = own.permits(request);
                        return permits < 0 ? null : Math.min(permits, Limit.MAX_PERMITS);
                    },
                    "RL-327 rule '" + rule.name() + "': " + own.getClass().getName()
                            + " returned no cost, so the request"
                            + " is charged as much as its limits can grant at once; return a number from 0");
            return request -> Objects.requireNonNullElse(tried.apply(request), -1L);
        }
        if (header != null) {
            return request -> ofHeader(request.request().headers(header), cost);
        }
        long permits = cost.permits();
        return request -> permits;
    }

    /** The most that a request can be charged and admitted: a client that makes the class fail must not pay less than others. */
    static long most(Policy policy) {
        return policy.limits().stream()
                .filter(limit -> limit.algorithm().isQuota() && !policy.countsCalls(limit))
                .mapToLong(limit -> Math.max(1, limit.capacity()))
                .min()
                .orElse(1);
    }

    /** A client must not reduce its cost with an unreadable value. */
    private static long ofHeader(@Nullable List<String> lines, RequestCost cost) {
        RequestCost.Range range = cost.range();
        long most = cost.permits();
        if (lines == null || lines.isEmpty()) {
            return range == null ? 1 : range.usual();
        }
        String text = lines.get(0).strip();
        if (lines.size() > 1 || !NUMBER.matcher(text).matches()) {
            return most;
        }
        // More than any cap.
        long permits = text.length() > DIGITS ? Long.MAX_VALUE : Long.parseLong(text);
        long least = range == null ? 1 : range.least();
        return permits >= least ? Math.min(permits, most) : range == null ? most : least;
    }

    static void addFindings(RuleDefinition rule, List<String> all) {
        RequestCost cost = rule.charging().cost();
        if (cost.isFree()) {
            all.add("RL-167 rule '" + rule.name() + "' has cost = 0: it only shows the quota, and denies nothing");
        }
        if (cost.header() != null) {
            rule.policies().stream()
                    .flatMap(policy -> policy.limits().stream().filter(limit -> cost.exceeds(policy, limit)))
                    .forEach(
                            limit -> all.add(
                                    "RL-166 rule '" + rule.name() + "' has cost = " + cost
                                            + ", and its limit '" + limit + "' grants at most "
                                            + limit.capacity()
                                            + " at once: a request that costs more is never allowed; write a smaller max or a greater limit"));
        }
    }
}
