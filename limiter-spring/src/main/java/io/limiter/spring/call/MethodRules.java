package io.limiter.spring.call;

import io.limiter.Charge;
import io.limiter.rule.RuleSet;
import io.limiter.spring.expression.MethodCall;
import java.util.List;

/** The annotations of a method under the policies of one configuration, those that only count apart. Immutable. */
public final class MethodRules {
    private final List<MethodRule.UnderPolicy> rules;
    private final RuleSet<MethodCall> enforced;
    private final RuleSet<MethodCall> shadows;
    private final boolean refunds;

    /** Of these annotations, in their order. */
    public MethodRules(List<MethodRule.UnderPolicy> rules) {
        this.rules = rules;
        this.enforced =
                new RuleSet<>(rules.stream().filter(rule -> !rule.isShadow()).toList());
        this.shadows = new RuleSet<>(
                rules.stream().filter(MethodRule.UnderPolicy::isShadow).toList());
        this.refunds = rules.stream().anyMatch(MethodRule.UnderPolicy::refunds);
    }

    /** What they say, for who looks from outside. */
    public List<AnnotatedPolicy> described() {
        return rules.stream().map(MethodRule.UnderPolicy::described).toList();
    }

    RuleSet<MethodCall> enforced() {
        return enforced;
    }

    RuleSet<MethodCall> shadows() {
        return shadows;
    }

    /** Whether a call that fails may give something back. */
    boolean refund() {
        return refunds;
    }

    /** A charge of an earlier snapshot under the policy that has its name now. */
    Charge renewed(Charge charge) {
        for (MethodRule.UnderPolicy rule : rules) {
            if (rule.policy().name().equals(charge.policy().name())) {
                return new Charge(rule.policy(), charge.key(), charge.permits());
            }
        }
        return charge;
    }
}
