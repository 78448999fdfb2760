package io.limiter.internal.config;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where the application tells what a request has cost, and how long its estimate is held. Immutable.
 *
 * @param header whether it is a header of the response; else an attribute of the request
 * @param name of that header or attribute
 * @param within after which time the estimate comes back, if the request is still not over
 */
public record ActualCost(boolean header, String name, Duration within) {
    /** For how long an estimate is held unless configured: longer than most responses take. */
    public static final Duration USUAL = Duration.ofMinutes(5);

    private static final Pattern TEXT =
            Pattern.compile("response-header:\\s*(?<header>\\S+)|attribute:\\s*(?<attribute>[\\x21-\\x7e]+)");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");

    /** That of the properties settle and settle-within; null if the cost is final. */
    static @Nullable ActualCost read(PropertyReader reader, String here) {
        Duration within = reader.duration(here + "settle-within", USUAL);
        return reader.read(here + "settle", text -> parse(text, within));
    }

    private static ActualCost parse(String text, Duration within) {
        Matcher source = TEXT.matcher(text);
        String header = source.matches() ? source.group("header") : null;
        String attribute = source.matches() ? source.group("attribute") : null;
        Problems.refuseIf(
                attribute == null && (header == null || !ConfigKey.isName(header)),
                "tells no cost; write response-header:X-Used-Tokens, or attribute:tokens-used");
        return new ActualCost(header != null, Objects.requireNonNullElse(header, attribute), within);
    }

    /**
     * What a request has cost; -1 if that is missing, ambiguous or no number.
     *
     * @param headers returns the values of a header of the response
     * @param attributes returns an attribute of the request
     */
    public long of(Function<String, Collection<String>> headers, Function<String, @Nullable Object> attributes) {
        List<String> lines = header ? List.copyOf(headers.apply(name)) : List.of();
        return number(!header ? attributes.apply(name) : lines.size() == 1 ? lines.get(0) : null);
    }

    /** A whole number or its text; -1 for anything else. */
    public static long number(@Nullable Object value) {
        String text = value instanceof Number || value instanceof CharSequence
                ? value.toString().strip()
                : "";
        return NUMBER.matcher(text).matches() ? Long.parseLong(text) : -1;
    }

    /** As configuration text writes it. */
    @Override
    public String toString() {
        return (header ? "response-header:" : "attribute:") + name;
    }
}
