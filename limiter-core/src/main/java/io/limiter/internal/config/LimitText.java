package io.limiter.internal.config;

import io.limiter.Limit;
import io.limiter.internal.Algorithm;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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

    private static final String TIME = "2026-11-27T10:00+01:00";

    /** The words that take a value. */
    private enum Word {
        BURST("20", Algorithm.TOKEN_BUCKET),
        REPEAT("deny", Algorithm.DISTINCT),
        ALIGNED("Europe/Rome", Algorithm.FIXED_WINDOW),
        EACH("2", Algorithm.ALLOTMENT),
        HOLD("15m", Algorithm.ALLOTMENT, Algorithm.CONCURRENT),
        OPENS(TIME, Algorithm.ALLOTMENT),
        CLOSES(TIME, Algorithm.ALLOTMENT),
        NAME("hourly", Algorithm.values());

        final String text = name().toLowerCase(Locale.ROOT);
        final String example;
        /** What it goes with. */
        final List<Algorithm> fitting;

        Word(String example, Algorithm... fitting) {
            this.example = example;
            this.fitting = List.of(fitting);
        }

        /** The word; null if it is none of these. */
        static @Nullable Word of(String text) {
            return Arrays.stream(values())
                    .filter(one -> one.text.equals(text))
                    .findFirst()
                    .orElse(null);
        }

        void checkFits(String value, Algorithm algorithm) {
            Problems.refuseIf(
                    !fitting.contains(algorithm),
                    "'" + text + " " + value + "' does not go with " + algorithm.text() + ", but with "
                            + fitting.stream().map(Algorithm::text).collect(Collectors.joining(" or "))
                            + "; write that, or leave it out");
        }
    }

    private LimitText() {}

    /**
     * The limits of a text such as {@code 3/10s sliding-list, 100/1h fixed name hourly}.
     *
     * @throws IllegalArgumentException if an item is wrong; the message names the item, the reason, and what to write
     */
    public static List<Limit> parseAll(String text) {
        return each(items(text), LimitText::parse);
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
        return List.copyOf(parsed);
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

    private static Limit limit(String[] words) {
        String[] amount = words[0].split("/", 2);
        boolean hasPeriod = amount.length == 2;
        Problems.refuseIf(
                !hasPeriod && !(words.length > 1 && words[1].matches("(?i)allotment|concurrent")),
                "'" + words[0] + "' is not a limit; write permits/period without spaces, such as 3/10s");
        Map<Word, String> values = new EnumMap<>(Word.class);
        Algorithm algorithm = read(words, values);
        long permits = number("permits", amount[0]);
        Problems.refuseIf(
                hasPeriod && (algorithm == Algorithm.ALLOTMENT || algorithm.isInFlight()),
                algorithm.text() + " has no period; write '" + permits + " " + algorithm.text() + "'");
        values.forEach((word, value) -> word.checkFits(value, algorithm));
        String hold = values.get(Word.HOLD);
        Limit limit = switch (algorithm) {
            case ALLOTMENT -> stock(permits, hold, values);
            case CONCURRENT ->
                hold == null ? Limit.concurrent(permits) : Limit.concurrent(permits, parseDuration(hold));
            default -> rate(algorithm, permits, amount[1], values);
        };
        String name = values.get(Word.NAME);
        return name == null ? limit : limit.withName(name);
    }

    /** Reads the words behind the first one: the values of those that have one, and the algorithm. */
    private static Algorithm read(String[] words, Map<Word, String> values) {
        String algorithm = null;
        int i = 1;
        while (i < words.length) {
            String text = words[i].toLowerCase(Locale.ROOT);
            Word word = Word.of(text);
            Problems.refuseIf(
                    word == null ? algorithm != null : values.containsKey(word),
                    "'" + words[i] + "' is out of order: a limit has one " + (word == null ? "algorithm" : text)
                            + "; separate limits by a comma");
            if (word == null) {
                algorithm = words[i];
                i++;
                continue;
            }
            Problems.refuseIf(
                    i + 1 == words.length, "'" + text + "' needs a value, such as " + text + " " + word.example);
            values.put(word, words[i + 1]);
            i += 2;
        }
        return algorithm == null ? Algorithm.SLIDING_LIST : Algorithm.ofText(algorithm);
    }

    private static Limit rate(Algorithm algorithm, long permits, String periodText, Map<Word, String> values) {
        String burst = values.get(Word.BURST);
        String repeat = values.get(Word.REPEAT);
        String zone = values.get(Word.ALIGNED);
        Duration period = period(periodText, zone != null);
        Problems.refuseIf(
                repeat != null && !repeat.equalsIgnoreCase("deny"),
                "'repeat " + repeat + "' is unknown; write repeat deny, or leave it out to allow known members again");
        Limit limit = burst != null
                ? Limit.tokenBucket(permits, period, number("burst", burst))
                : Limit.of(algorithm, permits, period);
        return zone != null ? limit.withZone(zone(zone)) : repeat != null ? limit.withRepeatsDenied() : limit;
    }

    private static Limit stock(long permits, @Nullable String hold, Map<Word, String> values) {
        String opens = values.get(Word.OPENS);
        String closes = values.get(Word.CLOSES);
        if (closes == null) {
            throw new IllegalArgumentException("RL-171 the stock has no closing time; write 'closes " + TIME + "'");
        }
        return Limit.allotment(
                permits,
                number("each", values.getOrDefault(Word.EACH, permits == 0 ? "0" : "1")),
                hold == null ? Duration.ZERO : parseDuration(hold),
                opens == null ? null : time(opens),
                time(closes));
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
            throw new IllegalArgumentException(
                    "'" + id
                            + "' is not a time zone; write a region such as Europe/Rome, UTC, or an offset such as +02:00",
                    e);
        }
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
