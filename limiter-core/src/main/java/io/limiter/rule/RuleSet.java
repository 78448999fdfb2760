package io.limiter.rule;

import io.limiter.Charge;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * All rules for one kind of subject. Immutable: a new configuration makes a new set.
 *
 * @param <T> the subject, such as an HTTP request
 */
public final class RuleSet<T> {
    private final List<Rule<? super T>> rules;
    private final Function<? super T, int[]> candidates;

    /** A set of these rules, in their order. */
    public RuleSet(List<? extends Rule<? super T>> rules) {
        this.rules = List.copyOf(rules);
        int[] all = IntStream.range(0, rules.size()).toArray();
        this.candidates = subject -> all;
    }

    /**
     * The same, where only a few of many rules can match a subject.
     *
     * @param candidates the indexes of the rules that may match a subject, each once and ascending. A matching rule
     *     that is missing here would not be charged
     */
    public RuleSet(List<? extends Rule<? super T>> rules, Function<? super T, int[]> candidates) {
        this.rules = List.copyOf(rules);
        this.candidates = candidates;
    }

    /** How many rules there are. */
    public int size() {
        return rules.size();
    }

    /**
     * The charges of a subject: one for each rule that matches, in their order. If two rules charge one policy for one
     * key and member, only the larger charge counts, so that a subject is counted once. Empty if no rule matches.
     */
    public List<Charge> charges(T subject) {
        List<Charge> charges = List.of();
        for (int i : candidates.apply(subject)) {
            Charge charge = rules.get(i).charge(subject);
            if (charge != null) {
                charges = with(charge, charges);
            }
        }
        return charges;
    }

    /** Charges and one more; the list may be the same one. */
    public static List<Charge> with(Charge charge, List<Charge> before) {
        if (before.isEmpty()) {
            return List.of(charge);
        }
        List<Charge> charges = before.size() > 1 ? before : new ArrayList<>(before);
        int same = indexOf(charge, charges);
        if (same < 0) {
            charges.add(charge);
        } else if (charge.permits() > charges.get(same).permits()) {
            charges.set(same, charge);
        }
        return charges;
    }

    /** The index of a charge to the same quota; -1 if there is none. */
    private static int indexOf(Charge charge, List<Charge> charges) {
        for (int i = 0; i < charges.size(); i++) {
            if (charges.get(i).isToSame(charge)) {
                return i;
            }
        }
        return -1;
    }
}
