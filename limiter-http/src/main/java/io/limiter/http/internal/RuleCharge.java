package io.limiter.http.internal;

import io.limiter.Charge;
import io.limiter.internal.config.ActualCost;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What a rule charges a request that it counts. Nothing is recorded yet.
 *
 * @param charge null as long as it is pending
 * @param pending how it gets its policy; null if it has it
 */
record RuleCharge(
        Terms rule, @Nullable Charge charge, @Nullable Pending pending) {
    /**
     * What all charges of a rule have in common.
     *
     * @param identity of the rule, the same in each configuration that has it
     * @param outcomes which responses keep the charge
     * @param actual where the application tells the cost, if the charge is an estimate; null if it is final
     * @param maxWait how long the request may wait if a limit denies the charge; null for a rule in code, which leaves
     *     that to the others
     */
    record Terms(
            Object identity,
            boolean isShadow,
            RuleOutcomes outcomes,
            @Nullable ActualCost actual,
            @Nullable Duration maxWait) {}

    /**
     * A charge that depends on a plan, which is looked up first.
     *
     * @param lookup begins the lookup; its result never completes exceptionally
     * @param charge makes the charge when the lookup has ended; null if it can't be made
     */
    record Pending(Supplier<CompletableFuture<?>> lookup, Supplier<@Nullable Charge> charge) {}

    /** Whether it charges the same policy for the same key and member. */
    boolean isToSame(Charge other) {
        return charge != null && charge.isToSame(other);
    }

    /** The same with its charge, after the lookup of its plan; null if the charge can't be made. */
    @Nullable
    RuleCharge known() {
        if (pending == null) {
            return this;
        }
        Charge known = pending.charge.get();
        return known == null ? null : new RuleCharge(rule, known, null);
    }

    /** Whether one of them is to the same policy, key and member. */
    static boolean isIn(List<Charge> some, Charge charge) {
        return some.stream().anyMatch(charge::isToSame);
    }

    /** One more; the list may be the same one. Nearly always it is the only one. */
    static List<RuleCharge> with(RuleCharge rule, List<RuleCharge> before) {
        if (before.isEmpty()) {
            return List.of(rule);
        }
        List<RuleCharge> all = before.size() > 1 ? before : new ArrayList<>(before);
        all.add(rule);
        return all;
    }

    /** Those of the rules that charge it; nearly always there is one, and it does. */
    static List<RuleCharge> toSame(List<RuleCharge> rules, Charge charge) {
        return rules.size() == 1 && rules.get(0).isToSame(charge)
                ? rules
                : rules.stream().filter(one -> one.isToSame(charge)).toList();
    }

    /** The most that one of the rules says; -1 if one can't tell. */
    static long actual(
            Charge charge,
            List<RuleCharge> rules,
            Function<String, Collection<String>> headers,
            Function<String, @Nullable Object> attributes) {
        return toSame(rules, charge).stream()
                .mapToLong(one -> one.rule.actual() == null
                        ? Objects.requireNonNull(one.charge).permits()
                        : one.rule.actual().of(headers, attributes))
                .reduce((one, other) -> Math.min(one, other) < 0 ? -1 : Math.max(one, other))
                .orElse(charge.permits());
    }
}
