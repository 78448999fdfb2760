package io.limiter.internal.config;

import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One outcome of a request: a status ({@code 401}), a class of them ({@code 5xx}), a header of the response ({@code
 * header:Location=*error*}) or an attribute of the request ({@code attribute:login.failed}), with any value or one like a
 * pattern, in which {@code *} is any text. Two of the first three are null.
 */
record OutcomeCondition(
        @Nullable String status,
        @Nullable String header,
        @Nullable String attribute,
        @Nullable Pattern value) {
    private static final Pattern TEXT = Pattern.compile(
            "(?<status>101|[2-5](?:[0-9]{2}|[xX]{2}))|(?:header:\\s*(?<header>\\$?[A-Za-z0-9._-]+)"
                    + "|attribute:\\s*(?<attribute>[\\x21-\\x7e&&[^=]]+))\\s*(?:=\\s*(?<value>\\S.*?)\\s*)?",
            Pattern.DOTALL);

    static OutcomeCondition parse(String text) {
        Matcher outcome = TEXT.matcher(text);
        Problems.refuseIf(
                !outcome.matches(),
                "'" + text + "' is not an outcome; write statuses or classes of them such as 401, 403, 5xx, or"
                        + " header:Location=*error*, or attribute:login.failed");
        String value = outcome.group("value");
        return new OutcomeCondition(
                outcome.group("status"),
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
        // The first place of each part is enough. Without going back, the time is that of one pass: clients may write
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
        return Integer.toString(code).equals(status) || (code / 100 + "xx").equalsIgnoreCase(status);
    }

    private boolean isLike(@Nullable String text) {
        return text != null && (value == null || value.matcher(text).matches());
    }
}
