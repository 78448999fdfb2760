package io.limiter.spring.method;

import io.limiter.Policy;
import io.limiter.spring.method.MethodRule.Charged;
import io.limiter.spring.method.MethodRule.UnderPolicies;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** The annotations of a method under the policies of one configuration. Immutable. */
final class MethodRules {
    private final List<UnderPolicies> rules;
    /** Shadow annotations come last. */
    private final List<UnderPolicies> ordered;

    /**
     * The rules of these annotations, in their order.
     *
     * @param enabled whether they charge anything
     */
    MethodRules(List<UnderPolicies> rules, boolean enabled) {
        this.rules = rules;
        this.ordered = rules.stream()
                .filter(rule -> enabled)
                .sorted(Comparator.comparing(one -> one.rule().isShadow()))
                .toList();
    }

    /** Their description, for reports: for each plan. */
    Stream<AnnotatedPolicy> described() {
        return rules.stream()
                .flatMap(one -> one.policies().values().stream()
                        .sorted(Comparator.comparing(Policy::name))
                        .map(one.rule()::described));
    }

    /** What operators should know, as sentences for the log. */
    List<String> findings() {
        return rules.stream()
                .flatMap(one -> one.rule().findings(one.policies().values()).stream())
                .toList();
    }

    /** Their policies. */
    List<Policy> policies() {
        return rules.stream().flatMap(one -> one.policies().values().stream()).toList();
    }

    /**
     * The charges for a call, shadow charges last. If several charge one policy for one key, only the larger charge
     * counts; an enforced one counts for both.
     */
    List<Charged> charge(MethodCall call) {
        if (ordered.size() == 1) {
            Charged only = ordered.get(0).rule().charge(call, ordered.get(0));
            return only == null ? List.of() : List.of(only);
        }
        List<Charged> all = new ArrayList<>(ordered.size());
        for (UnderPolicies one : ordered) {
            Charged charged = one.rule().charge(call, one);
            if (charged != null) {
                add(charged, all);
            }
        }
        return all;
    }

    private static void add(Charged one, List<Charged> all) {
        for (int i = 0; i < all.size(); i++) {
            Charged known = all.get(i);
            if (known.charge().isToSame(one.charge())) {
                if (known.rule().isShadow() == one.rule().isShadow()) {
                    all.set(i, known.with(one));
                }
                return;
            }
        }
        all.add(one);
    }

    /** Charges of an earlier snapshot under the current policies. */
    List<Charged> renewed(List<Charged> earlier) {
        return earlier.stream()
                .flatMap(charged -> rules.stream()
                        .filter(now -> now.rule() == charged.rule())
                        .map(now -> now.renewed(charged)))
                .toList();
    }
}
