package io.limiter.internal.config;

import io.limiter.Limit;
import io.limiter.Policy;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How many permits a request costs under a rule. Immutable.
 *
 * @param permits the cost of each request, 0 to take nothing; with a header the maximum cost, at least 1, also charged if the
 *     header is out of range, unreadable or sent twice
 * @param header the request header that has the cost, which is 1 if it is missing; null for none
 * @param type the name of the class that returns the cost, an {@code io.limiter.rule.Cost}; null for none
 * @param range what a header may say; always there if it is an estimate, null if it is what the request costs
 */
public record RequestCost(
        long permits,
        @Nullable String header,
        @Nullable String type,
        @Nullable Range range) {
    /** An estimate in a header is at least the maximum divided by this, unless the rule says otherwise. */
    private static final int PARTS = 10;

    private static final String HEADER = "header:";
    private static final List<String> WORDS = List.of("min", "max", "default");

    /**
     * The range of an estimate in a header, up to the maximum cost.
     *
     * @param least at least 1; a smaller number in the header costs this
     * @param usual the cost if the header is missing
     */
    public record Range(long least, long usual) {}

    /**
     * Checks the cost.
     *
     * @throws IllegalArgumentException if a part is wrong
     */
    public RequestCost {
        long least = header == null ? 0 : 1;
        Problems.refuseIf(
                permits < least || permits > Limit.MAX_PERMITS,
                "not a number of permits from " + least + " to " + Limit.MAX_PERMITS + "; write one such as 1 or 10");
        Problems.refuseIf(
                header != null && !ConfigKey.isName(header),
                "'" + header + "' is not a header; write header:X-Batch-Size");
        Problems.refuseIf(
                type != null && !ConfigKey.isClassName(type),
                "not a cost; write a number of permits, header:X-Batch-Size, or the name of a class such as"
                        + " com.example.MyCost");
        Problems.refuseIf(
                range != null && (range.least < 1 || range.usual < range.least || range.usual > permits),
                "not a range; write 1 or more for min, and a default from min to max: header:X-Max-Tokens min 400 max 4000"
                        + " default 500");
    }

    /** The same for each request. */
    public static RequestCost of(long permits) {
        return new RequestCost(permits, null, null, null);
    }

    /** Whether a request never costs anything. */
    public boolean isFree() {
        return permits == 0 && header == null && type == null;
    }

    /**
     * The cost of the property cost.
     *
     * @param isEstimate whether it is settled
     */
    static RequestCost read(PropertyReader reader, String here, boolean isEstimate) {
        return reader.read(here + "cost", of(1), text -> parse(text, isEstimate));
    }

    private static RequestCost parse(String text, boolean isEstimate) {
        return text.startsWith(HEADER)
                ? header(text.substring(HEADER.length()).split("\\s+"), isEstimate)
                : text.matches("[0-9-].*") ? of(number(text)) : new RequestCost(1, null, text, null);
    }

    /** A header, with words and numbers after its name. */
    private static RequestCost header(String[] words, boolean isEstimate) {
        Map<String, Long> numbers = new HashMap<>();
        for (int i = 1; i < words.length; i += 2) {
            Problems.refuseIf(
                    i + 1 == words.length
                            || !WORDS.contains(words[i])
                            || numbers.put(words[i], number(words[i + 1])) != null,
                    "'" + words[i]
                            + "' is not understood here; write header:X-Max-Tokens min 400 max 4000 default 500");
        }
        Long most = numbers.remove("max");
        if (most == null) {
            throw new IllegalArgumentException(
                    "RL-105 a cost of a header needs a cap, or a client could ask for any; write " + HEADER + words[0]
                            + " max 100");
        }
        if (numbers.isEmpty() && !isEstimate) {
            return new RequestCost(most, words[0], null, null);
        }
        // A thousand estimates of 1 at once would be admitted, and used for a thousand times the maximum.
        long least = isEstimate ? (most + PARTS - 1) / PARTS : 1;
        long usual = numbers.getOrDefault("default", most);
        Range range = new Range(numbers.getOrDefault("min", Math.min(least, usual)), usual);
        return new RequestCost(most, words[0], null, range);
    }

    /** Text that is not a number is out of range. */
    private static long number(String text) {
        return text.matches("[0-9]{1,18}") ? Long.parseLong(text) : -1;
    }

    /** Whether some request can cost more than any limit of the policy can grant. */
    public boolean exceeds(Policy policy, Limit limit) {
        return type == null && !policy.countsCalls(limit) && limit.permits() > 0 && permits > limit.capacity();
    }

    /** As configuration text writes it. */
    @Override
    public String toString() {
        if (header != null) {
            return HEADER + header + (range == null ? "" : " min " + range.least) + " max " + permits
                    + (range == null ? "" : " default " + range.usual);
        }
        return type != null ? type : Long.toString(permits);
    }

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

        private static final Pattern TEXT = Pattern.compile(
                "response-header:\\s*(?<header>\\$?[A-Za-z0-9._-]+)|attribute:\\s*(?<attribute>[\\x21-\\x7e]+)");
        private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");

        /** That of the properties settle and settle-within; null if the cost is final. */
        static @Nullable ActualCost read(PropertyReader reader, String here, RequestCost cost) {
            Duration within = reader.duration(here + "settle-within", USUAL);
            return reader.read(here + "settle", text -> parse(text, within, cost));
        }

        private static ActualCost parse(String text, Duration within, RequestCost estimate) {
            Matcher source = TEXT.matcher(text);
            Problems.refuseIf(
                    !source.matches(), "tells no cost; write response-header:X-Used-Tokens, or attribute:tokens-used");
            String header = source.group("header");
            String name = header == null ? source.group("attribute") : header;
            return new ActualCost(header != null, name, within, estimate);
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
        public long assumed(boolean isLeft) {
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
}
