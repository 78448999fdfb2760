package io.limiter.config;

import io.limiter.Algorithm;
import io.limiter.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The grammar of limits: {@code N/period [algorithm] [burst B] [name X]}, items separated by commas. The period is a
 * number and {@code us ms s m h d} or a word ({@code 3/second}, {@code 100/5minutes}), with or without the number. The
 * algorithm is {@code sliding-list} unless written.
 */
public final class LimitText {
    private static final Pattern AMOUNT = Pattern.compile("(?<number>[0-9]*)(?<unit>[A-Za-z]+)");
    private static final String BURST = "burst";
    private static final String NAME = "name";
    private static final String ALGORITHM = "algorithm";

    private LimitText() {}

    /**
     * The limits of a text such as {@code 3/10s sliding-list, 100/1h fixed name hourly}.
     *
     * @throws IllegalArgumentException if an item is wrong; the message says which, why, and what to write
     */
    public static List<Limit> parseAll(String text) {
        return each(items(text), LimitText::parse);
    }

    /** What stands between commas. */
    static List<String> items(String text) {
        return Arrays.stream(text.split(",", -1)).map(String::strip).toList();
    }

    /** What a parser makes of each item. The message of an exception tells all wrong items. */
    static <T> List<T> each(List<String> items, Function<String, T> parser) {
        List<T> parsed = new ArrayList<>();
        List<String> mistakes = new ArrayList<>();
        for (String item : items) {
            try {
                parsed.add(parser.apply(item));
            } catch (IllegalArgumentException e) {
                mistakes.add(String.valueOf(e.getMessage()));
            }
        }
        Problems.refuseIf(!mistakes.isEmpty(), String.join("; and ", mistakes));
        return parsed;
    }

    /**
     * One limit, such as {@code 10/s token-bucket burst 20}.
     *
     * @throws IllegalArgumentException as {@link #parseAll}
     */
    public static Limit parse(String item) {
        String text = item.strip();
        Problems.refuseIf(text.isEmpty(), "an item is empty; write limits such as 3/10s, separated by one comma");
        try {
            return limit(text.split("\\s+"));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("in '" + text + "': " + e.getMessage(), e);
        }
    }

    /**
     * A duration such as {@code 50ms}, {@code 2s}, {@code minute}, in the units of a period.
     *
     * @throws IllegalArgumentException if it is none
     */
    public static Duration parseDuration(String text) {
        long micros = micros(text);
        return Duration.ofSeconds(micros / 1_000_000, micros % 1_000_000 * 1_000);
    }

    private static Limit limit(String[] words) {
        int slash = words[0].indexOf('/');
        Problems.refuseIf(
                slash < 0, "'" + words[0] + "' is no limit; write permits/period without spaces, such as 3/10s");
        String second = words.length > 1 ? words[1] : "";
        Problems.refuseIf(
                words[0].matches("[0-9]+/[0-9]+") && unit(second) != null,
                "the period has a space in it; write '" + words[0] + second + "'");
        long permits = number("permits", words[0].substring(0, slash));
        long period = micros(words[0].substring(slash + 1));
        Map<String, String> options = new HashMap<>();
        for (int i = 1; i < words.length; i++) {
            String word = words[i].toLowerCase(Locale.ROOT);
            boolean valued = word.equals(BURST) || word.equals(NAME);
            Problems.refuseIf(
                    valued && i + 1 == words.length,
                    "'" + word + "' needs a value, such as " + (word.equals(BURST) ? "burst 20" : "name hourly"));
            String option = valued ? word : ALGORITHM;
            Problems.refuseIf(
                    options.putIfAbsent(option, words[valued ? i + 1 : i]) != null,
                    "'" + words[i] + "' comes too late: a limit has one " + option + "; separate limits by a comma");
            i += valued ? 1 : 0;
        }
        Algorithm algorithm = Algorithm.ofText(options.getOrDefault(ALGORITHM, Algorithm.SLIDING_LIST.text()));
        String written = options.get(BURST);
        long burst = written == null ? permits : number(BURST, written);
        Problems.refuseIf(
                written != null && !algorithm.hasBurst(),
                "a burst needs token-bucket, not " + algorithm.text() + "; write 'token-bucket burst " + burst
                        + "', or leave the burst out");
        return new Limit(options.get(NAME), algorithm, permits, period, burst);
    }

    private static long number(String what, String digits) {
        Problems.refuseIf(
                !digits.matches("[0-9]{1,18}"),
                what + " '" + digits + "' is no whole number; write digits only, such as 100");
        return Long.parseLong(digits);
    }

    /** The microseconds of a unit, or null. */
    private static @Nullable Long unit(String text) {
        String word = text.toLowerCase(Locale.ROOT);
        boolean plural = word.length() > 3 && word.endsWith("s");
        return switch (plural ? word.substring(0, word.length() - 1) : word) {
            case "us", "microsecond" -> 1L;
            case "ms", "millisecond" -> 1_000L;
            case "s", "second" -> 1_000_000L;
            case "m", "minute" -> 60_000_000L;
            case "h", "hour" -> 3_600_000_000L;
            case "d", "day" -> 86_400_000_000L;
            default -> null;
        };
    }

    private static long micros(String text) {
        Matcher amount = AMOUNT.matcher(text);
        Long unit = amount.matches() ? unit(amount.group("unit")) : null;
        if (unit == null) {
            throw new IllegalArgumentException("'" + text
                    + "' is no period; write a number and us, ms, s, m, h or d (10s), or a word (second, minute, hour,"
                    + " day)");
        }
        String digits = amount.group("number");
        long number = digits.isEmpty() ? 1 : number("period", digits);
        Problems.refuseIf(
                number > Limit.MAX_PERIOD_MICROS / unit,
                "a period of '" + text + "' is longer than 71 years; write a shorter one");
        return number * unit;
    }
}
