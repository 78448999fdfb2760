package io.limiter.spring.call;

import io.limiter.Policy;
import io.limiter.spring.call.MethodRule.Charged;
import io.limiter.spring.call.MethodRule.UnderPolicy;
import io.limiter.spring.expression.MethodCall;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The annotations of a method under the policies of one configuration. Immutable. */
public final class MethodRules {
    private final List<UnderPolicy> rules;
    /** Those that only count come last. */
    private final List<UnderPolicy> ordered;

    /**
     * Of these annotations, in their order.
     *
     * @param enabled whether they charge anything
     */
    public MethodRules(List<UnderPolicy> rules, boolean enabled) {
        this.rules = rules;
        this.ordered = rules.stream()
                .filter(rule -> enabled)
                .sorted(Comparator.comparing(UnderPolicy::isShadow))
                .toList();
    }

    /** What they say, for who looks from outside. */
    public List<AnnotatedPolicy> described() {
        return rules.stream().flatMap(UnderPolicy::described).toList();
    }

    /** The policies of their plans. */
    public List<Policy> policiesOfPlans() {
        return rules.stream()
                .filter(UnderPolicy::hasPlans)
                .flatMap(rule -> rule.plans().policies().values().stream())
                .toList();
    }

    /**
     * What they charge for a call, what is only counted last. Where several charge one policy for one key, the larger charge stands
     * alone; one that is enforced counts for both.
     */
    List<Charged> charge(MethodCall call) {
        if (ordered.size() == 1) {
            Charged only = ordered.get(0).charge(call);
            return only == null ? List.of() : List.of(only);
        }
        List<Charged> all = new ArrayList<>(ordered.size());
        for (UnderPolicy rule : ordered) {
            Charged charged = rule.charge(call);
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

    /** A charge of an earlier snapshot under the policy of now. */
    Charged renewed(Charged earlier) {
        for (UnderPolicy now : rules) {
            if (now.rule() == earlier.rule().rule()) {
                return new Charged(
                        now.of(earlier.rule().plan()),
                        earlier.key(),
                        earlier.member(),
                        earlier.permits(),
                        earlier.other());
            }
        }
        return earlier;
    }
}
