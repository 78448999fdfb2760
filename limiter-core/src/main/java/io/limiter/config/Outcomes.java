package io.limiter.config;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Which responses keep the charge of a rule. A charge is taken before the application runs, and given back after it has completed
 * with a status that does not count. Immutable.
 *
 * @param counted whether the listed statuses are those that count ({@code count-on}) or those that do not ({@code refund-on})
 * @param statuses at least one: a status ({@code 401}) or a class of them ({@code 5xx}), in their order
 */
public record Outcomes(boolean counted, List<String> statuses) {
    /**
     * Copies the statuses.
     *
     * @throws IllegalArgumentException if there are none, or one is invalid
     */
    public Outcomes {
        Set<String> lower = new LinkedHashSet<>(LimitText.each(statuses, status -> {
            // A response ends with 200 or more, or with 101.
            Problems.refuseIf(
                    !status.matches("101|[2-5]([0-9]{2}|[xX]{2})"),
                    "'" + status
                            + "' is not an HTTP status of a response; write statuses or classes of them, such as 401, 403, 5xx");
            return status.toLowerCase(Locale.ROOT);
        }));
        Problems.refuseIf(lower.isEmpty(), "no status is given; write some, such as 401, 403, 5xx");
        Problems.refuseIf(
                !counted && lower.containsAll(List.of("2xx", "3xx", "4xx", "5xx")),
                "every response would give its charge back, so the rule would limit nothing; leave out those that count");
        statuses = List.copyOf(lower);
    }

    /** Only responses with one of these statuses count. */
    public static Outcomes countOn(String... statuses) {
        return new Outcomes(true, List.of(statuses));
    }

    /** Responses with one of these statuses do not count; all others do. */
    public static Outcomes refundOn(String... statuses) {
        return new Outcomes(false, List.of(statuses));
    }

    /** Whether a response with this status counts, so that the charge stays. */
    public boolean keeps(int status) {
        return (statuses.contains(Integer.toString(status)) || statuses.contains(status / 100 + "xx")) == counted;
    }

    /** As configuration text writes it: {@code count-on = 401, 403, 5xx}. */
    @Override
    public String toString() {
        return (counted ? "count-on = " : "refund-on = ") + String.join(", ", statuses);
    }
}
