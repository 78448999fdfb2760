package io.limiter.internal.config;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which responses keep the charge of a rule. A charge is taken before the application runs, and given back after it has completed
 * with an outcome that does not count. Immutable.
 *
 * @param counted whether the listed outcomes are those that count ({@code count-on}) or those that do not ({@code refund-on})
 * @param outcomes at least one
 */
public record CountedOutcomes(boolean counted, List<Outcome> outcomes) {
    /**
     * Copies the outcomes, each once.
     *
     * @throws IllegalArgumentException if there are none, or nothing would count
     */
    public CountedOutcomes {
        outcomes = outcomes.stream().distinct().toList();
        Problems.refuseIf(outcomes.isEmpty(), "no outcome is given; write some, such as 401, 403, 5xx");
        List<String> texts = outcomes.stream().map(Outcome::text).toList();
        Problems.refuseIf(
                !counted && texts.containsAll(List.of("2xx", "3xx", "4xx", "5xx")),
                "every response would give its charge back, so the rule would limit nothing; leave out those that count");
    }

    /**
     * The same of text.
     *
     * @param outcomes a status ({@code 401}) or a class of them ({@code 5xx}); a header of the response, with any value ({@code
     *     header:Location}) or one like a pattern, in which {@code *} is any text ({@code header:Location=*error*}); or an
     *     attribute of the request in the same way ({@code attribute:login.failed})
     * @throws IllegalArgumentException if there are none, or one is invalid
     */
    public static CountedOutcomes of(boolean counted, List<String> outcomes) {
        return new CountedOutcomes(counted, LimitText.each(outcomes, Outcome::parse));
    }

    /**
     * Whether a response counts, so that the charge stays.
     *
     * @param headers returns the values of a header of the response
     * @param attributes returns an attribute of the request
     */
    public boolean keeps(
            int status, Function<String, Collection<String>> headers, Function<String, @Nullable Object> attributes) {
        for (Outcome one : outcomes) {
            if (one.matches(status, headers, attributes)) {
                return counted;
            }
        }
        return !counted;
    }

    /** As configuration text writes it: {@code count-on = 401, 403, 5xx}. */
    @Override
    public String toString() {
        return (counted ? "count-on = " : "refund-on = ")
                + outcomes.stream().map(Outcome::text).collect(Collectors.joining(", "));
    }

    /**
     * One outcome of a request. Immutable.
     *
     * @param text as configuration text writes it
     * @param least status of a range, which a header or attribute does not have
     * @param value what the header or attribute is like: the texts that are in it, with any text between them; null for any value
     */
    public record Outcome(
            String text,
            int least,
            int most,
            @Nullable String header,
            @Nullable String attribute,
            @Nullable List<String> value) {
        private static final Pattern TEXT = Pattern.compile(
                "(?<status>101|[2-5](?:[0-9]{2}|[xX]{2}))|(?:header:\\s*(?<header>\\$?[A-Za-z0-9._-]+)"
                        + "|attribute:\\s*(?<attribute>[\\x21-\\x7e&&[^=]]+))\\s*(?:=\\s*(?<value>\\S.*?)\\s*)?",
                Pattern.DOTALL);

        static Outcome parse(String text) {
            Matcher outcome = TEXT.matcher(text);
            Problems.refuseIf(
                    !outcome.matches(),
                    "'" + text + "' is not an outcome; write statuses or classes of them such as 401, 403, 5xx, or"
                            + " header:Location=*error*, or attribute:login.failed");
            String value = outcome.group("value");
            String written = outcome.group("status");
            String status = written == null ? "0" : written.toLowerCase(Locale.ROOT);
            return new Outcome(
                    written == null ? text : status,
                    Integer.parseInt(status.replace('x', '0')),
                    Integer.parseInt(status.replace('x', '9')),
                    outcome.group("header"),
                    outcome.group("attribute"),
                    value == null ? null : List.of(value.split("\\*+", -1)));
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

        private boolean isLike(@Nullable String found) {
            if (found == null || value == null) {
                return found != null;
            }
            String first = value.get(0);
            String last = value.get(value.size() - 1);
            if (value.size() == 1 || !found.startsWith(first)) {
                return found.equals(first);
            }
            int at = first.length();
            for (String part : value.subList(1, value.size() - 1)) {
                // The first place of each part is enough. Without going back, the time is that of one pass: clients may
                // write
                // the text.
                int place = found.indexOf(part, at);
                if (place < 0) {
                    return false;
                }
                at = place + part.length();
            }
            return found.length() - last.length() >= at && found.endsWith(last);
        }
    }
}
