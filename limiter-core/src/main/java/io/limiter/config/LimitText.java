package io.limiter.config;

import io.limiter.Algorithm;
import io.limiter.Limit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
    private static final Map<String, Long> UNITS = Map.ofEntries(
            Map.entry("us", 1L),
            Map.entry("microsecond", 1L),
            Map.entry("ms", 1_000L),
            Map.entry("millisecond", 1_000L),
            Map.entry("s", 1_000_000L),
            Map.entry("second", 1_000_000L),
            Map.entry("m", 60_000_000L),
            Map.entry("minute", 60_000_000L),
            Map.entry("h", 3_600_000_000L),
            Map.entry("hour", 3_600_000_000L),
            Map.entry("d", 86_400_000_000L),
            Map.entry("day", 86_400_000_000L));

    /** Units that others write. */
    private static final Map<String, String> OTHER_UNITS =
            Map.of("sec", "s", "secs", "s", "min", "m", "mins", "m", "hr", "h", "hrs", "h");

    private LimitText() {}

    /**
     * The limits of a text such as {@code 3/10s sliding-list, 100/1h fixed name hourly}.
     *
     * @throws IllegalArgumentException if an item is wrong; the message says which, why, and what to write
     */
    public static List<Limit> parseAll(String text) {
        List<Limit> limits = new ArrayList<>();
        List<String> mistakes = new ArrayList<>();
        for (String item : text.split(",", -1)) {
            try {
                limits.add(parse(item));
            } catch (IllegalArgumentException e) {
                mistakes.add(e.getMessage());
            }
        }
        if (!mistakes.isEmpty()) {
            throw new IllegalArgumentException(String.join("; and ", mistakes));
        }
        return limits;
    }

    /**
     * One limit, such as {@code 10/s token-bucket burst 20}.
     *
     * @throws IllegalArgumentException as {@link #parseAll}
     */
    public static Limit parse(String item) {
        String text = item.strip();
        if (text.isEmpty()) {
            throw new IllegalArgumentException("an item is empty; write limits such as 3/10s, separated by one comma");
        }
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
        if (slash < 0) {
            throw new IllegalArgumentException(
                    "'" + words[0] + "' is no limit; write permits/period without spaces, such as 3/10s");
        }
        if (words.length > 1 && words[0].matches("[0-9]+/[0-9]+") && unit(words[1]) != null) {
            throw new IllegalArgumentException("the period has a space in it; write '" + words[0] + words[1] + "'");
        }
        long permits = number("permits", words[0].substring(0, slash));
        long period = micros(words[0].substring(slash + 1));
        Options options = new Options();
        for (int i = 1; i < words.length; i++) {
            i = options.read(words, i);
        }
        Algorithm algorithm = options.algorithm == null ? Algorithm.SLIDING_LIST : options.algorithm;
        long burst = options.burst == null ? permits : options.burst;
        if (options.burst != null && !algorithm.hasBurst()) {
            throw new IllegalArgumentException("a burst needs token-bucket, not " + algorithm.text()
                    + "; write 'token-bucket burst " + burst + "', or leave the burst out");
        }
        return new Limit(options.name, algorithm, permits, period, burst);
    }

    /** What follows permits and period, each at most once, in any order. */
    private static final class Options {
        @Nullable
        Algorithm algorithm;

        @Nullable
        Long burst;

        @Nullable
        String name;

        /** Reads the option at i; the index of its last word. */
        int read(String[] words, int i) {
            String word = words[i].toLowerCase(Locale.ROOT);
            boolean valued = word.equals("burst") || word.equals("name");
            if (valued && i + 1 == words.length) {
                throw new IllegalArgumentException(
                        "'" + word + "' needs a value, such as " + (word.equals("burst") ? "burst 20" : "name hourly"));
            }
            if (word.equals("burst") && burst == null) {
                burst = number("burst", words[i + 1]);
            } else if (word.equals("name") && name == null) {
                name = words[i + 1];
            } else if (!valued && algorithm == null) {
                algorithm = algorithm(words[i]);
            } else {
                throw new IllegalArgumentException("'" + words[i] + "' comes too late: "
                        + (valued ? "a limit has one " + word : "a limit has one algorithm")
                        + "; separate limits by a comma");
            }
            return valued ? i + 1 : i;
        }

        private static Algorithm algorithm(String word) {
            try {
                return Algorithm.ofText(word);
            } catch (IllegalArgumentException e) {
                List<String> known = new ArrayList<>(List.of("burst", "name"));
                for (Algorithm algorithm : Algorithm.values()) {
                    known.add(algorithm.text());
                }
                throw new IllegalArgumentException("'" + word + "' is no algorithm and no option; write fixed,"
                        + " sliding-list, sliding-zset or token-bucket, burst B, name X" + Suggestion.of(word, known));
            }
        }
    }

    private static long number(String what, String digits) {
        if (!digits.matches("[0-9]{1,18}")) {
            throw new IllegalArgumentException(
                    what + " '" + digits + "' is no whole number; write digits only, such as 100");
        }
        return Long.parseLong(digits);
    }

    /** The microseconds of a unit, or null. */
    private static @Nullable Long unit(String text) {
        String word = text.toLowerCase(Locale.ROOT);
        boolean plural = word.length() > 3 && word.endsWith("s");
        return UNITS.get(plural ? word.substring(0, word.length() - 1) : word);
    }

    private static long micros(String text) {
        Matcher amount = AMOUNT.matcher(text);
        Long unit = amount.matches() ? unit(amount.group("unit")) : null;
        if (unit == null) {
            String meant =
                    amount.matches() ? OTHER_UNITS.get(amount.group("unit").toLowerCase(Locale.ROOT)) : null;
            throw new IllegalArgumentException("'" + text
                    + "' is no period; write a number and us, ms, s, m, h or d (10s), or a word (second, minute, hour,"
                    + " day)" + (meant == null ? "" : "; did you mean '" + amount.group("number") + meant + "'?"));
        }
        String digits = amount.group("number");
        long number = digits.isEmpty() ? 1 : number("period", digits);
        if (number > Limit.MAX_PERIOD_MICROS / unit) {
            throw new IllegalArgumentException(
                    "a period of '" + text + "' is longer than 71 years; write a shorter one");
        }
        return number * unit;
    }
}
