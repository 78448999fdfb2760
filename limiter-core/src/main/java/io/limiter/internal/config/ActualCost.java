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
 * Where the application tells what a request has cost, what it is charged if nobody tells, and how long its estimate is held.
 * Immutable.
 *
 * @param header whether it is a header of the response; else an attribute of the request
 * @param name of that header or attribute
 * @param within after which time the estimate comes back, if the request is still not over
 * @param estimate what is charged until then
 */
public record ActualCost(boolean header, String name, Duration within, RequestCost estimate) {
    /** For how long an estimate is held unless configured: longer than most responses take. */
    public static final Duration USUAL = Duration.ofMinutes(5);

    private static final Pattern TEXT =
            Pattern.compile("response-header:\\s*(?<header>\\S+)|attribute:\\s*(?<attribute>[\\x21-\\x7e]+)");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");

    /** That of the properties settle and settle-within; null if the cost is final. */
    static @Nullable ActualCost read(PropertyReader reader, String here, RequestCost cost) {
        check(reader, here, cost);
        Duration within = reader.duration(here + "settle-within", USUAL);
        return reader.read(here + "settle", text -> parse(text, within, cost));
    }

    private static void check(PropertyReader reader, String here, RequestCost cost) {
        String settle = here + "settle";
        reader.refuseBeside(settle, here + "wait", "RL-106 a reservation can't wait; remove the wait");
        reader.must(
                settle,
                !reader.has(settle) || !reader.is(here + "shadow", "true"),
                "RL-106 a rule that only counts reserves nothing, so it would report too many denials; remove this line until"
                        + " the rule is enforced");
        reader.must(
                settle,
                !reader.has(settle) || !cost.isFree(),
                "RL-106 nothing is reserved at a cost of 0; write a cost such as header:X-Max-Tokens min 400 max 4000 default"
                        + " 500");
        reader.need(
                here + "settle-within",
                settle,
                "RL-106 nothing is reserved; add " + settle + " = attribute:tokens-used, or remove this line");
    }

    private static ActualCost parse(String text, Duration within, RequestCost estimate) {
        Matcher source = TEXT.matcher(text);
        String header = source.matches() ? source.group("header") : null;
        String attribute = source.matches() ? source.group("attribute") : null;
        Problems.refuseIf(
                attribute == null && (header == null || !ConfigKey.isName(header)),
                "tells no cost; write response-header:X-Used-Tokens, or attribute:tokens-used");
        return new ActualCost(header != null, Objects.requireNonNullElse(header, attribute), within, estimate);
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

    /**
     * What a request is charged if nobody tells its cost; -1 for the estimate, if the application has chosen it. A client chooses
     * an estimate in a header, and could choose its cost by leaving before the end.
     */
    public long untold(boolean isLeft) {
        RequestCost.Range range = estimate.range();
        return range == null ? -1 : isLeft ? estimate.permits() : range.usual();
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
