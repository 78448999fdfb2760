package io.limiter.spring.method;

import io.limiter.Policy;
import io.limiter.spring.method.MethodRule.Charged;
import io.limiter.spring.method.MethodRule.UnderPolicy;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The annotations of a method under the policies of one configuration. Immutable. */
public final class MethodRules {
    private final List<UnderPolicy> rules;
    /** Shadow annotations come last. */
    private final List<UnderPolicy> ordered;

    /**
     * The rules of these annotations, in their order.
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

    /** Their description, for reports. */
    public List<AnnotatedPolicy> described() {
        return rules.stream().flatMap(UnderPolicy::described).toList();
    }

    /** What operators should know, as sentences for the log. */
    public List<String> findings() {
        return rules.stream().flatMap(UnderPolicy::findings).toList();
    }

    /** Their policies. */
    public List<Policy> policies() {
        return rules.stream()
                .flatMap(rule -> rule.plans().policies().values().stream())
                .toList();
    }

    /**
     * The charges for a call, shadow charges last. If several charge one policy for one key, only the larger charge
     * counts; an enforced one counts for both.
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

    /** A charge of an earlier snapshot under the current policy. */
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
