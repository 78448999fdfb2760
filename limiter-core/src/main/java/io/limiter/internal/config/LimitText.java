package io.limiter.internal.config;

import io.limiter.Limit;
import io.limiter.Stock;
import io.limiter.internal.Algorithm;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The grammar of limits: {@code N/period [algorithm] [burst B] [repeat deny] [aligned ZONE] [name X]}, items separated by
 * commas. The period is a number and {@code us ms s m h d} or a word ({@code 3/second}, {@code 100/5minutes}), with or
 * without the number; of an aligned limit also {@code 1w} and {@code 1month}. The algorithm is {@code sliding-list} unless
 * written. A stock has no period: {@code N allotment [each M] [hold DURATION] [opens TIME] closes TIME [name X]}, with times
 * such as {@code 2026-11-27T10:00+01:00}. Nor have calls in flight: {@code N concurrent [hold DURATION] [name X]}.
 */
public final class LimitText {
    private static final Pattern BLOCK =
            Pattern.compile("(?<denials>\\S+)\\s+for\\s+(?<first>\\S+)\\s+up\\s+to\\s+(?<longest>\\S+)");
    private static final Pattern AMOUNT = Pattern.compile("(?<number>[0-9]*)(?<unit>[A-Za-z]+)");

    private static final String BURST = "burst";
    private static final String ALIGNED = "aligned";
    private static final String NAME = "name";
    private static final String REPEAT = "repeat";
    private static final String ALGORITHM = "algorithm";
    private static final String EACH = "each";
    private static final String HOLD = "hold";
    private static final String OPENS = "opens";
    private static final String CLOSES = "closes";
    private static final String TIME = "2026-11-27T10:00+01:00";
    /** The words that take a value, with examples. */
    private static final Map<String, String> VALUED = Map.ofEntries(
            Map.entry(BURST, "20"),
            Map.entry(REPEAT, "deny"),
            Map.entry(ALIGNED, "Europe/Rome"),
            Map.entry(NAME, "hourly"),
            Map.entry(EACH, "2"),
            Map.entry(HOLD, "15m"),
            Map.entry(OPENS, TIME),
            Map.entry(CLOSES, TIME));

    /** When a stock can be sold: words, and properties of policies. */
    static final List<String> TIMES = List.of(OPENS, CLOSES);

    /** The algorithms that a word goes with; a word that is not here goes with all. */
    private static final Map<String, Set<Algorithm>> FITTING = Map.of(
            BURST, Set.of(Algorithm.TOKEN_BUCKET),
            REPEAT, Set.of(Algorithm.DISTINCT),
            ALIGNED, Set.of(Algorithm.FIXED_WINDOW),
            EACH, Set.of(Algorithm.ALLOTMENT),
            HOLD, Set.of(Algorithm.ALLOTMENT, Algorithm.CONCURRENT),
            OPENS, Set.of(Algorithm.ALLOTMENT),
            CLOSES, Set.of(Algorithm.ALLOTMENT));

    private LimitText() {}

    /**
     * The limits of a text such as {@code 3/10s sliding-list, 100/1h fixed name hourly}.
     *
     * @throws IllegalArgumentException if an item is wrong; the message names the item, the reason, and what to write
     */
    public static List<Limit> parseAll(String text) {
        return parseAll(text, Map.of());
    }

    /**
     * The same, for a policy with properties for when its stocks open and close.
     *
     * @param times the {@code opens} and {@code closes} of limits that do not set them
     */
    static List<Limit> parseAll(String text, Map<String, String> times) {
        List<Limit> limits = each(items(text), item -> parse(item, times));
        Problems.refuseIf(
                !times.isEmpty() && limits.stream().noneMatch(limit -> limit instanceof Stock),
                "RL-171 the policy opens or closes and has no stock; write a limit such as '100 allotment each 2', or"
                        + " remove opens and closes");
        return limits;
    }

    /** Whether a text is a list of limits. */
    public static boolean isLimits(String text) {
        try {
            return !parseAll(text).isEmpty();
        } catch (IllegalArgumentException noLimits) {
            return false;
        }
    }

    /** The text between commas. */
    static List<String> items(String text) {
        return Arrays.stream(text.split(",", -1)).map(String::strip).toList();
    }

    /** The parsed items. The message of an exception lists all invalid items. */
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
        return parse(item, Map.of());
    }

    private static Limit parse(String item, Map<String, String> times) {
        String text = item.strip();
        Problems.refuseIf(text.isEmpty(), "an item is empty; write limits such as 3/10s, separated by one comma");
        try {
            return limit(text.split("\\s+"), times);
        } catch (IllegalArgumentException e) {
            // A code comes first.
            throw new IllegalArgumentException(
                    Problems.visible(String.valueOf(e.getMessage())
                            .replaceFirst("^(RL-[0-9]+ )?", "$1" + Matcher.quoteReplacement("in '" + text + "': "))),
                    e);
        }
    }

    /**
     * A block, such as {@code 20/10m for 15m up to 24h}: that many denials within that time block a key, first for 15
     * minutes, then twice as long each time, at most for a day.
     *
     * @throws IllegalArgumentException as {@link #parseAll}
     */
    public static Limit parseBlock(String text) {
        Matcher words = BLOCK.matcher(text.strip());
        try {
            Problems.refuseIf(!words.matches(), "its form is wrong");
            Limit window = parse(words.group("denials") + " " + Algorithm.FIXED_WINDOW.text());
            return Limit.block(
                    window.permits(),
                    window.period(),
                    parseDuration(words.group("first")),
                    parseDuration(words.group("longest")));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "RL-176 '" + text + "' is not a block: " + e.getMessage()
                            + "; write how many denials within what time, how long the first block lasts and how long"
                            + " the longest, such as 20/10m for 15m up to 24h",
                    e);
        }
    }

    /**
     * A duration such as {@code 50ms}, {@code 2s}, {@code minute}, in the units of a period.
     *
     * @throws IllegalArgumentException if it is not a duration
     */
    public static Duration parseDuration(String text) {
        return period(text, false);
    }

    private static Limit limit(String[] words, Map<String, String> times) {
        int slash = words[0].indexOf('/');
        String second = words.length > 1 ? words[1] : "";
        Problems.refuseIf(
                slash < 0 && !second.matches("(?i)allotment|concurrent"),
                "'" + words[0] + "' is not a limit; write permits/period without spaces, such as 3/10s");
        Map<String, String> options = options(words);
        Algorithm algorithm = Algorithm.ofText(options.getOrDefault(ALGORITHM, Algorithm.SLIDING_LIST.text()));
        boolean isStock = algorithm == Algorithm.ALLOTMENT;
        boolean isInFlight = algorithm.isInFlight();
        long permits = number("permits", slash < 0 ? words[0] : words[0].substring(0, slash));
        Problems.refuseIf(
                slash >= 0 && (isStock || isInFlight),
                algorithm.text() + " has no period; write '" + permits + " " + algorithm.text() + "'");
        if (isStock) {
            times.forEach(options::putIfAbsent);
        }
        options.forEach((word, value) -> checkFitting(word, value, algorithm));
        Limit limit = isStock
                ? stock(permits, options)
                : isInFlight
                        ? inFlight(permits, options.get(HOLD))
                        : rate(algorithm, permits, words[0].substring(slash + 1), options);
        String name = options.get(NAME);
        return name == null ? limit : limit.withName(name);
    }

    private static void checkFitting(String word, String value, Algorithm algorithm) {
        Set<Algorithm> fitting = FITTING.getOrDefault(word, Set.of(algorithm));
        Problems.refuseIf(
                !fitting.contains(algorithm),
                "'" + word + " " + value + "' does not go with " + algorithm.text() + ", but with "
                        + fitting.stream().map(Algorithm::text).sorted().collect(Collectors.joining(" or "))
                        + "; write that, or leave it out");
    }

    private static Limit rate(Algorithm algorithm, long permits, String periodText, Map<String, String> options) {
        String burst = options.get(BURST);
        String repeat = options.get(REPEAT);
        String zone = options.get(ALIGNED);
        Duration period = period(periodText, zone != null);
        if (burst != null) {
            return Limit.tokenBucket(permits, period, number(BURST, burst));
        }
        if (repeat != null) {
            Problems.refuseIf(
                    !repeat.equalsIgnoreCase("deny"),
                    "'repeat " + repeat
                            + "' is unknown; write repeat deny, or leave it out to allow known members again");
            return Limit.distinct(permits, period).withRepeatsDenied();
        }
        return zone == null
                ? Limit.of(algorithm, permits, period)
                : Limit.fixedWindow(permits, period).withZone(zone(zone));
    }

    /**
     * A period.
     *
     * @param isCalendar whether {@code 1w} and {@code 1month} are periods too
     */
    private static Duration period(String text, boolean isCalendar) {
        String word = isCalendar ? text.toLowerCase(Locale.ROOT) : "";
        if (word.matches("1?w(eek)?")) {
            return Duration.ofDays(7);
        }
        if (word.matches("1?month")) {
            return ChronoUnit.MONTHS.getDuration();
        }
        Matcher amount = AMOUNT.matcher(text);
        Long unit = amount.matches() ? unit(amount.group("unit")) : null;
        if (unit == null) {
            throw new IllegalArgumentException("'" + text
                    + "' is not a period; write a number and us, ms, s, m, h or d without spaces (10s), or a word"
                    + " (second, minute, hour, day); 1w and 1month need 'fixed aligned ZONE'");
        }
        String digits = amount.group("number");
        long number = digits.isEmpty() ? 1 : number("period", digits);
        Problems.refuseIf(
                number > Limit.MAX_PERIOD_MICROS / unit,
                "a period of '" + text + "' is longer than 71 years; write a shorter one");
        return Duration.of(number * unit, ChronoUnit.MICROS);
    }

    /** The microseconds of a unit; null if it is none. */
    private static @Nullable Long unit(String text) {
        // Elsewhere M is a month, which is far longer.
        String word = text.equals("M") ? "" : text.toLowerCase(Locale.ROOT);
        return switch (word.length() > 3 ? word.replaceFirst("s$", "") : word) {
            case "us", "microsecond" -> 1L;
            case "ms", "millisecond" -> 1_000L;
            case "s", "second" -> 1_000_000L;
            case "m", "minute" -> 60_000_000L;
            case "h", "hour" -> 3_600_000_000L;
            case "d", "day" -> 86_400_000_000L;
            default -> null;
        };
    }

    private static ZoneId zone(String id) {
        try {
            return ZoneId.of(id);
        } catch (DateTimeException e) {
            List<String> regions = ZoneId.getAvailableZoneIds().stream()
                    .filter(known -> known.contains("/"))
                    .toList();
            throw new IllegalArgumentException(
                    "'" + id
                            + "' is not a time zone; write a region such as Europe/Rome, UTC, or an offset such as +02:00"
                            + Suggestion.of(id, regions),
                    e);
        }
    }

    /** The words behind the first one, with their values. */
    private static Map<String, String> options(String[] words) {
        Map<String, String> options = new HashMap<>();
        for (int i = 1; i < words.length; i++) {
            String word = words[i].toLowerCase(Locale.ROOT);
            String example = VALUED.get(word);
            Problems.refuseIf(
                    example != null && i + 1 == words.length,
                    "'" + word + "' needs a value, such as " + word + " " + example);
            String option = example != null ? word : ALGORITHM;
            Problems.refuseIf(
                    options.putIfAbsent(option, words[example != null ? i + 1 : i]) != null,
                    "'" + words[i] + "' is out of order: a limit has one " + option + "; separate limits by a comma");
            i += example != null ? 1 : 0;
        }
        return options;
    }

    private static Limit stock(long permits, Map<String, String> options) {
        String closes = options.get(CLOSES);
        if (closes == null) {
            throw new IllegalArgumentException("RL-171 the stock has no closing time; write 'closes " + TIME
                    + "', or the property closes of its policy");
        }
        String opens = options.get(OPENS);
        return Limit.allotment(
                permits,
                number(EACH, options.getOrDefault(EACH, permits == 0 ? "0" : "1")),
                parseDuration(options.getOrDefault(HOLD, "0s")),
                opens == null ? null : time(opens),
                time(closes));
    }

    private static Limit inFlight(long permits, @Nullable String hold) {
        return hold == null ? Limit.concurrent(permits) : Limit.concurrent(permits, parseDuration(hold));
    }

    private static Instant time(String text) {
        try {
            return ZonedDateTime.parse(text).toInstant();
        } catch (DateTimeException e) {
            throw new IllegalArgumentException(
                    "RL-173 '" + text + "' is not a time with a zone or offset; write one such as " + TIME, e);
        }
    }

    static long number(String what, String digits) {
        Problems.refuseIf(
                !digits.matches("[0-9]{1,18}"),
                what + " '" + digits + "' is not a whole number; write digits only, such as 100");
        return Long.parseLong(digits);
    }
}
