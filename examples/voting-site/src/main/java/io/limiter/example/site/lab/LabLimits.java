package io.limiter.example.site.lab;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.example.site.Shown;
import io.limiter.example.site.WrongInputException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The limits that a visitor has set: the same permits and period for all four algorithms, and what the bucket holds.
 * Immutable.
 */
record LabLimits(long permits, long periodMillis, long burst) {
    /** How many policies there are. */
    static final int LANES = 4;

    private static final long SHORTEST_PERIOD_MILLIS = 500;
    private static final long LONGEST_PERIOD_MILLIS = 60_000;
    private static final Pattern TEXT = Pattern.compile("(\\d{1,6})-(\\d{1,6})-(\\d{1,6})");

    /** What a visitor finds: the limit of the vote, as far as the laboratory can keep it, so that both count alike. */
    static LabLimits like(Limit vote) {
        long permits = Math.max(1, Math.min(vote.permits(), Limit.MAX_LOG_PERMITS));
        long periodMillis = vote.period().toMillis();
        return new LabLimits(
                permits, Math.max(SHORTEST_PERIOD_MILLIS, Math.min(periodMillis, LONGEST_PERIOD_MILLIS)), permits);
    }

    /**
     * Limits from a request.
     *
     * @throws WrongInputException if one is missing or out of range
     */
    static LabLimits of(@Nullable Long permits, @Nullable Long periodMillis, @Nullable Long burst) {
        LabLimits limits = new LabLimits(
                inside("permits", permits, 1, Limit.MAX_LOG_PERMITS),
                inside("periodMillis", periodMillis, SHORTEST_PERIOD_MILLIS, LONGEST_PERIOD_MILLIS),
                inside("burst", burst, 1, Limit.MAX_LOG_PERMITS));
        limits.policies();
        return limits;
    }

    /** The number of a field, when it is there and within these bounds. */
    static long inside(String field, @Nullable Long value, long least, long most) {
        if (value == null || value < least || value > most) {
            throw new WrongInputException(
                    field, field + " is " + Shown.of(value) + "; send a whole number from " + least + " to " + most);
        }
        return value;
    }

    /** Four policies of one limit each, in the order of the lanes. While Redis is unreachable, this JVM decides. */
    List<Policy> policies() {
        Duration period = Duration.ofMillis(periodMillis);
        return Stream.of(
                        Limit.fixedWindow(permits, period),
                        Limit.slidingList(permits, period),
                        Limit.slidingZset(permits, period),
                        Limit.tokenBucket(permits, period, burst))
                .map(limit -> Policy.of("lab-" + limit.kind(), limit).withFailureMode(FailureMode.LOCAL))
                .toList();
    }

    /** The text in a cookie and in keys. */
    String text() {
        return permits + "-" + periodMillis + "-" + burst;
    }

    /** Parses {@link #text}; empty for any other text, because the cookie may contain anything. */
    static Optional<LabLimits> parse(@Nullable String text) {
        Matcher numbers = TEXT.matcher(text == null ? "" : text);
        if (!numbers.matches()) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    of(Long.valueOf(numbers.group(1)), Long.valueOf(numbers.group(2)), Long.valueOf(numbers.group(3))));
        } catch (WrongInputException outOfRange) {
            return Optional.empty();
        }
    }
}
