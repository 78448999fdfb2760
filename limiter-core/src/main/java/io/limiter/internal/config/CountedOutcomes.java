package io.limiter.internal.config;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Which responses keep the charge of a rule. A charge is taken before the application runs, and given back after it has completed
 * with an outcome that does not count. Immutable.
 */
public final class CountedOutcomes {
    private final boolean counted;
    private final List<String> texts;
    private final List<OutcomeCondition> conditions;

    /**
     * CountedOutcomes.
     *
     * @param counted whether the listed outcomes are those that count ({@code count-on}) or those that do not ({@code refund-on})
     * @param outcomes at least one, in their order: a status ({@code 401}) or a class of them ({@code 5xx}); a header of the
     *     response, with any value ({@code header:Location}) or one like a pattern, in which {@code *} is any text
     *     ({@code header:Location=*error*}); or an attribute of the request in the same way ({@code
     *     attribute:login.failed})
     * @throws IllegalArgumentException if there are none, or one is invalid
     */
    public CountedOutcomes(boolean counted, List<String> outcomes) {
        Set<String> all = new LinkedHashSet<>(
                LimitText.each(outcomes, one -> one.length() == 3 ? one.toLowerCase(Locale.ROOT) : one));
        this.counted = counted;
        this.texts = List.copyOf(all);
        this.conditions = LimitText.each(texts, OutcomeCondition::parse);
        Problems.refuseIf(conditions.isEmpty(), "no outcome is given; write some, such as 401, 403, 5xx");
        Problems.refuseIf(
                !counted && all.containsAll(List.of("2xx", "3xx", "4xx", "5xx")),
                "every response would give its charge back, so the rule would limit nothing; leave out those that count");
    }

    /** Whether the listed outcomes are those that count. */
    public boolean counted() {
        return counted;
    }

    /**
     * Whether a response counts, so that the charge stays.
     *
     * @param headers returns the values of a header of the response
     * @param attributes returns an attribute of the request
     */
    public boolean keeps(
            int status, Function<String, Collection<String>> headers, Function<String, @Nullable Object> attributes) {
        return conditions.stream().anyMatch(one -> one.matches(status, headers, attributes)) == counted;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof CountedOutcomes same && counted == same.counted && texts.equals(same.texts);
    }

    @Override
    public int hashCode() {
        return texts.hashCode();
    }

    /** As configuration text writes it: {@code count-on = 401, 403, 5xx}. */
    @Override
    public String toString() {
        return (counted ? "count-on = " : "refund-on = ") + String.join(", ", texts);
    }
}
