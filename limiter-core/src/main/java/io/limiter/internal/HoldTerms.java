package io.limiter.internal;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * What a reservation needs beyond its charges. Immutable. In microseconds.
 *
 * @param id what only the caller who made it knows: 16 hexadecimal digits
 * @param ttlMicros after which time it ends by itself
 * @param keepMicros how long its record is kept after its end
 */
public record HoldTerms(String id, long ttlMicros, long keepMicros) {
    /** How long a record is kept unless configured. */
    public static final Duration DEFAULT_KEEP = Duration.ofMinutes(1);

    /** The longest that a reservation may last, or its record may be kept. */
    public static final Duration LONGEST = Duration.ofDays(1);

    /** The actual cost of a call that failed, or was cancelled, before it told one: the estimate stays, which is no mistake. */
    public static final long UNREPORTED = Long.MIN_VALUE;

    private static final Duration SHORTEST = Duration.ofMillis(1);
    /** A secure one: from known ids nobody can compute the next. */
    private static final SecureRandom RANDOM = new SecureRandom();

    private static final Pattern ID = Pattern.compile("[0-9a-f]{16}");

    /**
     * Checks the terms.
     *
     * @throws IllegalArgumentException if one is out of its range
     */
    public HoldTerms {
        if (!ID.matcher(id).matches()) {
            throw new IllegalArgumentException("a hold's id has 16 hexadecimal digits");
        }
        check("a hold's time", ttlMicros, SHORTEST);
        check("the time for which a hold is kept", keepMicros, DEFAULT_KEEP);
    }

    /** Terms with an id of their own. */
    public static HoldTerms of(Duration ttl, Duration keep) {
        return new HoldTerms(newId(), micros(ttl), micros(keep));
    }

    /** 16 hexadecimal digits that nobody can predict. */
    public static String newId() {
        return String.format(Locale.ROOT, "%016x", RANDOM.nextLong());
    }

    private static long micros(Duration time) {
        return time.compareTo(LONGEST) > 0 ? Long.MAX_VALUE : time.toNanos() / 1_000;
    }

    private static void check(String what, long micros, Duration least) {
        if (micros < micros(least) || micros > micros(LONGEST)) {
            throw new IllegalArgumentException(what + " is outside " + least + " to " + LONGEST);
        }
    }
}
