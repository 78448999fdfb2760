package io.limiter;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One promise: so many permits per period, kept by one {@link Algorithm}. The quota policy of the IETF draft
 * <i>RateLimit header fields for HTTP</i>, with its {@code q} and {@code w}. Immutable.
 *
 * <p>A limit of 0 permits denies every call that asks for something. All arithmetic is in whole numbers below 2<sup>53</sup>; a limit for which it would not is refused here.
 *
 * @param name how the limit is called in its policy and in answers: 1 to 64 of {@code A-Z a-z 0-9 . _ -}; null until the
 *     policy gives it its default name
 * @param algorithm how it is kept
 * @param permits how many per period
 * @param periodMicros the period in microseconds, from 1 to {@link #MAX_PERIOD_MICROS}
 * @param burst how many a full token bucket holds; equal to {@code permits} for every other algorithm
 * @param identity what identifies its state, together with policy, key and algorithm: the name that somebody gave it, else
 *     the period in microseconds. It does not depend on other limits of the policy, nor on permits and burst
 * @param terms what its algorithm demands beyond these numbers; null for nothing
 */
public record Limit(
        @Nullable String name,
        Algorithm algorithm,
        long permits,
        long periodMicros,
        long burst,
        String identity,
        @Nullable Terms terms) {
    /** The largest permits of a sliding log: state and work grow with it. */
    public static final long MAX_LOG_PERMITS = 10_000;

    /** The largest permits of any limit: 2<sup>52</sup>. */
    public static final long MAX_PERMITS = 1L << 52;

    /** The longest period: 2<sup>51</sup> microseconds, 71 years. */
    public static final long MAX_PERIOD_MICROS = 1L << 51;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final String[] UNITS = {"d", "h", "m", "s", "ms", "us"};
    private static final long[] UNIT_MICROS = {86_400_000_000L, 3_600_000_000L, 60_000_000L, 1_000_000L, 1_000L, 1L};

    /**
     * Checks the promise.
     *
     * @throws IllegalArgumentException if a part is out of its range or the arithmetic would not be exact; the message
     *     says which value and what to do
     */
    public Limit {
        Objects.requireNonNull(algorithm, "algorithm");
        checkName("limit", identity);
        if (name != null) {
            checkName("limit", name);
        }
        if (permits < 0 || permits > MAX_PERMITS) {
            throw new IllegalArgumentException(
                    "a limit of " + permits + " permits is outside 0.." + MAX_PERMITS + "; 0 denies all");
        }
        if (periodMicros < 1 || periodMicros > MAX_PERIOD_MICROS) {
            throw new IllegalArgumentException("a period of " + periodMicros + " us is outside 1.." + MAX_PERIOD_MICROS
                    + " (1 microsecond to 71 years)");
        }
        algorithm.check(permits, periodMicros, burst);
    }

    /** A limit that is identified by its name, or where it has none by its period. */
    public Limit(@Nullable String name, Algorithm algorithm, long permits, long periodMicros, long burst) {
        this(name, algorithm, permits, periodMicros, burst, null);
    }

    /** As above, with terms. */
    public Limit(
            @Nullable String name,
            Algorithm algorithm,
            long permits,
            long periodMicros,
            long burst,
            @Nullable Terms terms) {
        this(name, algorithm, permits, periodMicros, burst, name == null ? Long.toString(periodMicros) : name, terms);
    }

    /** At most {@code permits} in a window that starts with the first admitted call. */
    public static Limit fixedWindow(long permits, Duration period) {
        return new Limit(null, Algorithm.FIXED_WINDOW, permits, micros(period), permits);
    }

    /** At most {@code permits} in any period, wherever it starts. */
    public static Limit slidingList(long permits, Duration period) {
        return new Limit(null, Algorithm.SLIDING_LIST, permits, micros(period), permits);
    }

    /** At most {@code permits} in any period, and a call asked again with its request id is charged once. */
    public static Limit slidingZset(long permits, Duration period) {
        return new Limit(null, Algorithm.SLIDING_ZSET, permits, micros(period), permits);
    }

    /** A bucket that holds {@code permits} and refills by as many per period, continuously. */
    public static Limit tokenBucket(long permits, Duration period) {
        return tokenBucket(permits, period, permits);
    }

    /** A bucket that holds {@code burst} permits and refills by {@code permits} per period, continuously. */
    public static Limit tokenBucket(long permits, Duration period, long burst) {
        return new Limit(null, Algorithm.TOKEN_BUCKET, permits, micros(period), burst);
    }

    /** The same promise under a name of its own, which also identifies its state. */
    public Limit named(String newName) {
        return new Limit(Objects.requireNonNull(newName, "name"), algorithm, permits, periodMicros, burst, terms);
    }

    /** The same promise, called by a name that says nothing about its state. */
    Limit called(String defaultName) {
        return new Limit(defaultName, algorithm, permits, periodMicros, burst, identity, terms);
    }

    /** The period as a duration. */
    public Duration period() {
        return Duration.of(periodMicros, ChronoUnit.MICROS);
    }

    /** The most that one call can ever get: the burst of a bucket, else the permits. */
    public long capacity() {
        return burst;
    }

    /**
     * The greatest common divisor of permits and period. A bucket's refill is {@code permits / divisor} parts of a
     * permit each microsecond, where a permit has {@code periodMicros / divisor} parts.
     */
    public long refillDivisor() {
        return gcd(permits, periodMicros);
    }

    /** Whether the other limit, of the same policy, goes on from the state of this one. */
    boolean hasStateOf(Limit other) {
        return algorithm == other.algorithm && identity.equals(other.identity);
    }

    /** The name that the policy gave. */
    String givenName() {
        return Objects.requireNonNull(name, "a limit of a policy has a name");
    }

    /** This limit divided among so many instances, at least 1 permit (0 stays 0), for {@link FailureMode#LOCAL}. */
    Limit share(long instances) {
        return permits == 0 ? this : algorithm.share(this, instances);
    }

    /** Other numbers for the same state. */
    Limit with(long newPermits, long newPeriodMicros, long newBurst) {
        return new Limit(name, algorithm, newPermits, newPeriodMicros, newBurst, identity, terms);
    }

    /** The period in the largest unit that divides it: {@code 10s}, {@code 1h}, {@code 86400000011us}. */
    public String periodText() {
        int unit = 0;
        while (periodMicros % UNIT_MICROS[unit] != 0) {
            unit++;
        }
        return periodMicros / UNIT_MICROS[unit] + UNITS[unit];
    }

    /** The limit as configuration text: {@code 3/10s sliding-list}. */
    @Override
    public String toString() {
        return permits + "/" + periodText() + " " + algorithm.text()
                + (burst != permits ? " burst " + burst : "")
                + (terms == null ? "" : " " + terms)
                + (name == null ? "" : " name " + name);
    }

    static void checkName(String what, String name) {
        if (!NAME.matcher(name).matches()) {
            throw new IllegalArgumentException("'" + name + "' can't name a " + what
                    + "; use 1 to 64 letters, digits, dots, underscores and hyphens (A-Z a-z 0-9 . _ -)");
        }
    }

    static long gcd(long a, long b) {
        while (b != 0) {
            long rest = a % b;
            a = b;
            b = rest;
        }
        return a;
    }

    private static long micros(Duration period) {
        if (period.getNano() % 1_000 != 0) {
            throw new IllegalArgumentException("a period of " + period + " is finer than a microsecond; round it");
        }
        return TimeUnit.MICROSECONDS.convert(period);
    }
}
