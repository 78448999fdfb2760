package io.limiter.rule;

import io.limiter.Charge;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

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
        return charges(subject, null);
    }

    /**
     * The same, and whose charges they are.
     *
     * @param owners gets, for each charge and in their order, the rule that it comes from; null for nobody to tell
     */
    public List<Charge> charges(T subject, @Nullable List<Rule<? super T>> owners) {
        List<Charge> charges = new ArrayList<>();
        for (Rule<? super T> rule : rules) {
            Charge charge = rule.charge(subject);
            if (charge == null) {
                continue;
            }
            int same = indexOf(charge, charges);
            if (same < 0) {
                charges.add(charge);
                if (owners != null) {
                    owners.add(rule);
                }
            } else if (charge.permits() > charges.get(same).permits()) {
                charges.set(same, charge);
                if (owners != null) {
                    owners.set(same, rule);
                }
            }
        }
        return charges;
    }

    /** Where a charge of the same policy and key stands; -1 when there is none. */
    private static int indexOf(Charge charge, List<Charge> charges) {
        for (int i = 0; i < charges.size(); i++) {
            Charge other = charges.get(i);
            if (other.key().equals(charge.key())
                    && other.policy().name().equals(charge.policy().name())) {
                return i;
            }
        }
        return -1;
    }
}
