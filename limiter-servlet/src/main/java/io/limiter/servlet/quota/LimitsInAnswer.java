package io.limiter.servlet.quota;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What the answer to one request says about limits so far. A request can meet several decisions, in another filter or on its
 * way to another path. Used by the one thread that has the request.
 */
public final class LimitsInAnswer {
    private static final Comparator<LimitOutcome> CLOSEST_FIRST = Comparator.comparing(LimitOutcome::allowed)
            .thenComparingLong(LimitOutcome::remaining)
            .thenComparing(Comparator.comparingLong(LimitOutcome::nextMicros).reversed());

    private final Map<String, Policy> policies = new LinkedHashMap<>();
    private final Map<String, LimitOutcome> outcomes = new LinkedHashMap<>();
    private final Map<String, String> lines = new HashMap<>();
    private long leastRemaining = Long.MAX_VALUE;

    /** What no decision was added to yet. */
    public LimitsInAnswer() {}

    /** Adds the policies of a decision, and its numbers if they are exact: a share, or a guess, is not what a client has left. */
    void add(Decision decision) {
        for (Charge charge : decision.charges()) {
            policies.put(charge.policy().name(), charge.policy());
        }
        if (decision.source().isExact()) {
            for (LimitOutcome outcome : decision.outcomes()) {
                // One policy can be charged for several keys, or by two filters.
                outcomes.merge(
                        outcome.charge().policy().name() + "/" + outcome.limit().name(),
                        outcome,
                        BinaryOperator.minBy(CLOSEST_FIRST));
            }
        }
    }

    /** For each limit the outcome that is closest to its end. */
    Collection<LimitOutcome> outcomes() {
        return outcomes.values();
    }

    /** Takes the outcome if it is closer to its end than the one that was taken before; false if it is not. */
    boolean replaceClosest(LimitOutcome outcome) {
        boolean closer = !outcome.allowed() || outcome.remaining() < leastRemaining;
        leastRemaining = closer ? outcome.remaining() : leastRemaining;
        return closer;
    }

    /** Notes the line that a list field gets; returns the one that it replaces, null if there is none. */
    public @Nullable String replaceLine(String field, String line) {
        return lines.put(field, line);
    }

    /**
     * The name of a limit in this answer: its own, or {@code policy/limit} where two policies of the answer have a limit of that
     * name. No name has a slash or a quote, so each is unique and needs no escapes.
     */
    String name(Policy policy, Limit limit) {
        String name = String.valueOf(limit.name());
        for (Policy other : policies.values()) {
            if (!other.name().equals(policy.name())
                    && other.limits().stream().anyMatch(one -> name.equals(one.name()))) {
                return policy.name() + "/" + name;
            }
        }
        return name;
    }

    /** Of a denial that was added: the limits that deny, or the policies if nobody counted and none is sure to deny; each once. */
    public List<String> violated(Decision denial) {
        Set<String> names = new LinkedHashSet<>();
        denial.violated().forEach(outcome -> names.add(name(outcome.charge().policy(), outcome.limit())));
        if (names.isEmpty()) {
            for (Charge charge : denial.charges()) {
                charge.policy().limits().stream()
                        .filter(limit -> charge.permits() > limit.capacity())
                        .forEach(limit -> names.add(name(charge.policy(), limit)));
            }
        }
        if (names.isEmpty()) {
            denial.charges().forEach(charge -> names.add(charge.policy().name()));
        }
        return List.copyOf(names);
    }
}
