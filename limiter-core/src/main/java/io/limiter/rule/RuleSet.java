package io.limiter.rule;

import io.limiter.Charge;
import java.util.ArrayList;
import java.util.List;

/**
 * All rules for one kind of subject. Immutable: a new configuration is a new set, swapped in whole.
 *
 * @param <T> the subject, such as an HTTP request
 */
public final class RuleSet<T> {
    private final List<Rule<? super T>> rules;

    /** A set of these rules, in their order. */
    public RuleSet(List<? extends Rule<? super T>> rules) {
        this.rules = List.copyOf(rules);
    }

    /** How many rules there are. */
    public int size() {
        return rules.size();
    }

    /**
     * What a subject costs: the charge of each rule that is for it, in their order. Where two rules charge one policy
     * for one key, the larger charge stands alone, so that a subject is counted once. Empty when no rule is for it.
     */
    public List<Charge> charges(T subject) {
        List<Charge> charges = List.of();
        for (Rule<? super T> rule : rules) {
            Charge charge = rule.charge(subject);
            if (charge != null) {
                if (charges.isEmpty()) {
                    charges = new ArrayList<>(rules.size());
                }
                add(charges, charge);
            }
        }
        return charges;
    }

    private static void add(List<Charge> charges, Charge charge) {
        for (int i = 0; i < charges.size(); i++) {
            Charge other = charges.get(i);
            if (other.policy().name().equals(charge.policy().name())
                    && other.key().equals(charge.key())) {
                if (charge.permits() > other.permits()) {
                    charges.set(i, charge);
                }
                return;
            }
        }
        charges.add(charge);
    }
}
