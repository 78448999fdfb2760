package io.limiter.servlet;

import io.limiter.Charge;
import io.limiter.rule.RuleSet;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The charges of one dispatch that need a plan, which is looked up first. Used by one thread at a time. */
final class PlanCharges {
    private final List<Due> all = new ArrayList<>(0);

    private record Due(
            String rule, boolean isShadow, Supplier<CompletableFuture<?>> lookup, Supplier<@Nullable Charge> charge) {}

    /**
     * Adds a charge.
     *
     * @param lookup begins the lookup of its plan
     * @param charge makes it when the lookup has ended; null if it is not due any more
     */
    void add(String rule, boolean isShadow, Supplier<CompletableFuture<?>> lookup, Supplier<@Nullable Charge> charge) {
        all.add(new Due(rule, isShadow, lookup, charge));
    }

    /** Begins all lookups. */
    CompletableFuture<?> lookUp() {
        return CompletableFuture.allOf(all.stream().map(due -> due.lookup.get()).toArray(CompletableFuture[]::new));
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    /**
     * These charges and those that were looked up: of enforced rules, or of shadow rules.
     *
     * @param maker makes the charge of a rule
     */
    List<Charge> with(
            List<Charge> charges,
            boolean ofShadows,
            BiFunction<String, Supplier<@Nullable Charge>, @Nullable Charge> maker) {
        List<Charge> sum = charges;
        for (Due due : all) {
            if (due.isShadow == ofShadows) {
                Charge charge = maker.apply(due.rule, due.charge);
                sum = charge == null ? sum : RuleSet.with(charge, sum);
            }
        }
        return sum;
    }
}
