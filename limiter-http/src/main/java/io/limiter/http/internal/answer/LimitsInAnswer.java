package io.limiter.http.internal.answer;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.Policy;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The limits in the answer to one request so far. A request can have several decisions, in another filter or on its way
 * to another path. Used by the one thread that has the request.
 */
public final class LimitsInAnswer {
    static final String NUMBERS = "RateLimit";
    static final String POLICIES = "RateLimit-Policy";

    /** For each limit the outcome that is closest to its end. */
    private List<LimitOutcome> outcomes = List.of();

    /** Limits without exact numbers. */
    private List<Charge> uncounted = List.of();

    /** Our lines of the two list fields. */
    private @Nullable String numbers;

    private @Nullable String policies;

    private long leastRemaining = Long.MAX_VALUE;

    /** No limits yet. */
    public LimitsInAnswer() {}

    /**
     * Adds the policies of a decision, and its numbers if they are exact: those of a share, or a guess, are not what a
     * client has left.
     */
    void add(Decision decision) {
        if (!decision.source().isExact()) {
            uncounted = new ArrayList<>(uncounted);
            uncounted.addAll(decision.charges());
            return;
        }
        List<LimitOutcome> all = decision.outcomes();
        if (outcomes.isEmpty() && isOfOnePolicy(all, decision.source())) {
            outcomes = all;
            return;
        }
        outcomes = new ArrayList<>(outcomes);
        for (LimitOutcome outcome : all) {
            // Without blocks that allow, which are not a quota.
            if (outcome.limit().algorithm().isQuota() || !outcome.allowed()) {
                addClosest(outcome);
            }
        }
    }

    /**
     * Whether they are all the limits of one charge, and quotas, as nearly always: then their names differ. Of two charges the first has
     * fewer limits than there are outcomes. A denial from memory may have some limits of each.
     */
    private static boolean isOfOnePolicy(List<LimitOutcome> all, Decision.Source source) {
        Policy first = all.isEmpty() ? null : all.get(0).policy();
        return first != null
                && first.penalty() == null
                && (all.size() == 1
                        || (all.size() == first.limits().size() && source != Decision.Source.CACHED_DENIAL));
    }

    /** One policy can be charged for several keys, or by two filters. */
    private void addClosest(LimitOutcome outcome) {
        for (int i = 0; i < outcomes.size(); i++) {
            LimitOutcome other = outcomes.get(i);
            if (other.policy().name().equals(outcome.policy().name())
                    && String.valueOf(other.limit().name())
                            .equals(outcome.limit().name())) {
                outcomes.set(i, isCloser(outcome, other) ? outcome : other);
                return;
            }
        }
        outcomes.add(outcome);
    }

    private static boolean isCloser(LimitOutcome one, LimitOutcome than) {
        int order = Boolean.compare(one.allowed(), than.allowed());
        order = order != 0 ? order : Long.compare(one.remaining(), than.remaining());
        return order != 0 ? order < 0 : one.nextMicros() > than.nextMicros();
    }

    /** For each limit the outcome that is closest to its end. */
    List<LimitOutcome> outcomes() {
        return outcomes;
    }

    /** Takes the outcome if it is closer to its end than the one that was taken before; false if it is not. */
    boolean tryReplaceClosest(LimitOutcome outcome) {
        boolean closer = !outcome.allowed() || outcome.remaining() < leastRemaining;
        leastRemaining = closer ? outcome.remaining() : leastRemaining;
        return closer;
    }

    /** Records the line of a list field. Returns the one that it replaces, if any. */
    @Nullable
    String replaceLine(String field, String line) {
        boolean isNumbers = field.equals(NUMBERS);
        String former = isNumbers ? numbers : policies;
        numbers = isNumbers ? line : numbers;
        policies = isNumbers ? policies : line;
        return former;
    }

    /**
     * The name of a limit in this answer: its own, or {@code policy/limit} if two policies of the answer have a limit
     * of that name. No name has a slash or a quote, so each is unique and needs no escapes.
     */
    String name(Policy policy, Limit limit) {
        String name = String.valueOf(limit.name());
        boolean isShared = false;
        for (LimitOutcome outcome : outcomes) {
            isShared |= hasToo(outcome.policy(), policy, name);
        }
        for (Charge charge : uncounted) {
            isShared |= hasToo(charge.policy(), policy, name);
        }
        return isShared ? policy.name() + "/" + name : name;
    }

    private static boolean hasToo(Policy other, Policy policy, String name) {
        return !other.name().equals(policy.name())
                && other.limits().stream().anyMatch(limit -> name.equals(limit.name()));
    }

    /**
     * For a denial that was added: the limits that deny, or the policies if nothing was counted and none certainly
     * denies; each once.
     */
    public List<String> violated(Decision denial) {
        Set<String> names = new LinkedHashSet<>();
        denial.violated().forEach(outcome -> names.add(name(outcome.policy(), outcome.limit())));
        if (names.isEmpty()) {
            for (Charge charge : denial.charges()) {
                charge.policy().limits().stream()
                        .filter(limit -> charge.permitsOf(limit) > limit.capacity())
                        .forEach(limit -> names.add(name(charge.policy(), limit)));
            }
        }
        if (names.isEmpty()) {
            denial.charges().forEach(charge -> names.add(charge.policy().name()));
        }
        return List.copyOf(names);
    }
}
