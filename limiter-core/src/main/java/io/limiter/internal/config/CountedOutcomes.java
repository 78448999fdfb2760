package io.limiter.internal.config;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which responses keep the charge of a rule. A charge is taken before the application runs, and given back after it has completed
 * with an outcome that does not count. Immutable.
 */
public final class CountedOutcomes {
    private final boolean counted;
    private final List<String> texts;
    private final List<Condition> conditions;

    /**
     * The outcomes that count, or those that do not.
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
        this.conditions = LimitText.each(texts, Condition::parse);
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
        for (Condition one : conditions) {
            if (one.matches(status, headers, attributes)) {
                return counted;
            }
        }
        return !counted;
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

    /**
     * One outcome of a request: a status ({@code 401}), a class of them ({@code 5xx}), a header of the response ({@code
     * header:Location=*error*}) or an attribute of the request ({@code attribute:login.failed}), with any value or one like a
     * pattern, in which {@code *} is any text. A header or attribute has no range of statuses.
     */
    private record Condition(
            int least,
            int most,
            @Nullable String header,
            @Nullable String attribute,
            @Nullable Pattern value) {
        private static final Pattern TEXT = Pattern.compile(
                "(?<status>101|[2-5](?:[0-9]{2}|[xX]{2}))|(?:header:\\s*(?<header>\\$?[A-Za-z0-9._-]+)"
                        + "|attribute:\\s*(?<attribute>[\\x21-\\x7e&&[^=]]+))\\s*(?:=\\s*(?<value>\\S.*?)\\s*)?",
                Pattern.DOTALL);

        static Condition parse(String text) {
            Matcher outcome = TEXT.matcher(text);
            Problems.refuseIf(
                    !outcome.matches(),
                    "'" + text + "' is not an outcome; write statuses or classes of them such as 401, 403, 5xx, or"
                            + " header:Location=*error*, or attribute:login.failed");
            String value = outcome.group("value");
            String status = outcome.group("status");
            int least = status == null
                    ? 0
                    : Integer.parseInt(status.toLowerCase(Locale.ROOT).replace('x', '0'));
            int most = status == null
                    ? 0
                    : Integer.parseInt(status.toLowerCase(Locale.ROOT).replace('x', '9'));
            return new Condition(
                    least,
                    most,
                    outcome.group("header"),
                    outcome.group("attribute"),
                    value == null ? null : pattern(value));
        }

        private static Pattern pattern(String value) {
            List<String> parts =
                    Stream.of(value.split("\\*+", -1)).map(Pattern::quote).toList();
            int last = parts.size() - 1;
            if (last == 0) {
                return Pattern.compile(parts.get(0));
            }
            // The first place of each part is enough. Without going back, the time is that of one pass: clients may
            // write
            // the text.
            String between = String.join(
                    "",
                    parts.subList(1, last).stream()
                            .map(part -> "(?>.*?" + part + ")")
                            .toList());
            return Pattern.compile(parts.get(0) + between + ".*" + parts.get(last), Pattern.DOTALL);
        }

        /** Whether a response is one of these; of several values of a header, one suffices. */
        boolean matches(
                int code, Function<String, Collection<String>> headers, Function<String, @Nullable Object> attributes) {
            if (header != null) {
                return headers.apply(header).stream().anyMatch(this::isLike);
            }
            if (attribute != null) {
                Object found = attributes.apply(attribute);
                return found != null && isLike(found.toString());
            }
            return least <= code && code <= most;
        }

        private boolean isLike(@Nullable String text) {
            return text != null && (value == null || value.matcher(text).matches());
        }
    }
}
