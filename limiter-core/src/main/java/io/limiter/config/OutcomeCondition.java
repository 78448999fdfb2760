package io.limiter.config;

import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One outcome of a request: a status ({@code 401}), a class of them ({@code 5xx}), a header of the response ({@code
 * header:Location=*error*}) or an attribute of the request ({@code attribute:login.failed}), with any value or one like a
 * pattern, in which {@code *} is any text.
 */
record OutcomeCondition(Kind kind, String name, @Nullable Pattern value) {
    enum Kind {
        STATUS,
        HEADER,
        ATTRIBUTE
    }

    static OutcomeCondition parse(String text) {
        if (text.matches("101|[2-5]([0-9]{2}|[xX]{2})")) {
            return new OutcomeCondition(Kind.STATUS, text, null);
        }
        Kind kind = text.startsWith("header:") ? Kind.HEADER : Kind.ATTRIBUTE;
        int start = text.indexOf(':') + 1;
        int equals = text.indexOf('=', start);
        String name = text.substring(start, equals < 0 ? text.length() : equals).strip();
        String value = equals < 0 ? null : text.substring(equals + 1).strip();
        Problems.refuseIf(
                (kind == Kind.ATTRIBUTE && !text.startsWith("attribute:"))
                        || (kind == Kind.HEADER ? !HttpSettings.isName(name) : !name.matches("[\\x21-\\x7e]+"))
                        || "".equals(value),
                "'" + text + "' is not an outcome; write statuses or classes of them such as 401, 403, 5xx, or"
                        + " header:Location=*error*, or attribute:login.failed");
        return new OutcomeCondition(kind, name, value == null ? null : pattern(value));
    }

    private static Pattern pattern(String value) {
        List<String> parts = Stream.of(value.split("\\*+", -1)).map(Pattern::quote).toList();
        int last = parts.size() - 1;
        if (last == 0) {
            return Pattern.compile(parts.get(0));
        }
        // The first place of each part is enough. Without going back, the time is that of one pass: clients may write the text.
        String between = String.join(
                "", parts.subList(1, last).stream().map(part -> "(?>.*?" + part + ")").toList());
        return Pattern.compile(parts.get(0) + between + ".*" + parts.get(last), Pattern.DOTALL);
    }

    /** Whether a response is one of these; of several values of a header, one suffices. */
    boolean matches(
            int status, Function<String, Collection<String>> headers, Function<String, @Nullable Object> attributes) {
        Object attribute = kind == Kind.ATTRIBUTE ? attributes.apply(name) : null;
        return switch (kind) {
            case STATUS -> name.equals(Integer.toString(status)) || name.equalsIgnoreCase(status / 100 + "xx");
            case HEADER -> headers.apply(name).stream().anyMatch(this::isLike);
            case ATTRIBUTE -> attribute != null && isLike(attribute.toString());
        };
    }

    private boolean isLike(@Nullable String text) {
        return text != null && (value == null || value.matcher(text).matches());
    }
}
