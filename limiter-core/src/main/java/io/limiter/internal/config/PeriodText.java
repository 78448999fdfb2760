package io.limiter.internal.config;

import io.limiter.Limit;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Periods and durations in configuration text, such as {@code 10s}. */
final class PeriodText {
    private static final Pattern AMOUNT = Pattern.compile("(?<number>[0-9]*)(?<unit>[A-Za-z]+)");

    private PeriodText() {}

    /** What people write for units, and what they are here. */
    private static final Map<String, String> MEANT =
            Map.of("sec", "s", "secs", "s", "min", "m", "mins", "m", "hr", "h", "hrs", "h", "msec", "ms");

    private static final Map<String, String> WORDS = Map.of("s", "second", "m", "minute", "h", "hour");

    /** The microseconds of a unit, or null. */
    static @Nullable Long unit(String text) {
        // Elsewhere M is a month, which is far longer.
        String word = text.equals("M") ? "" : text.toLowerCase(Locale.ROOT);
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

    /** The unit as it is written here, or null if the text is none. */
    static @Nullable String unitMeant(String text) {
        return unit(text) != null ? text : MEANT.get(text.toLowerCase(Locale.ROOT));
    }

    private static String meant(Matcher amount) {
        String unit = amount.matches() ? unitMeant(amount.group("unit")) : null;
        if (unit == null) {
            return "";
        }
        String digits = amount.group("number");
        return "did you mean '" + (digits.isEmpty() ? WORDS.getOrDefault(unit, unit) : digits + unit) + "'? Or ";
    }

    /**
     * A period.
     *
     * @param isCalendar whether {@code 1w} and {@code 1month} are periods too
     * @throws IllegalArgumentException if the text is none
     */
    static Duration parse(String text, boolean isCalendar) {
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
            throw new IllegalArgumentException("'" + text + "' is not a period; " + meant(amount)
                    + "write a number and us, ms, s, m, h or d (10s), or a word (second, minute, hour,"
                    + " day); 1w and 1month need 'fixed aligned ZONE'");
        }
        String digits = amount.group("number");
        long number = digits.isEmpty() ? 1 : LimitText.number("period", digits);
        Problems.refuseIf(
                number > Limit.MAX_PERIOD_MICROS / unit,
                "a period of '" + text + "' is longer than 71 years; write a shorter one");
        return Duration.of(number * unit, ChronoUnit.MICROS);
    }
}
