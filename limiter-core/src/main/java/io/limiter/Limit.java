package io.limiter;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A number of permits per period, counted by one {@link Algorithm}. The quota policy of the IETF draft
 * <i>RateLimit header fields for HTTP</i>, with its {@code q} and {@code w}. Immutable.
 *
 * <p>A limit of 0 permits denies every call that costs a permit. All arithmetic is in whole numbers below
 * 2<sup>53</sup>; a limit that would exceed this is refused.
 *
 * @param name the name of the limit in its policy and in answers: 1 to 64 of {@code A-Z a-z 0-9 . _ -}; null until the
 *     policy gives it its default name
 * @param algorithm how it is kept
 * @param permits how many per period
 * @param periodMicros the period in microseconds, from 1 to {@link #MAX_PERIOD_MICROS}; of an {@linkplain #aligned aligned}
 *     limit that of an ordinary window
 * @param burst how many a full token bucket holds; the most that one member of an allotment may have; equal to
 *     {@code permits} for every other algorithm
 * @param identity what identifies its state, together with policy, key and algorithm: the given name, else the period
 *     in microseconds. It does not depend on other limits of the policy, nor on permits and burst
 * @param terms what its algorithm needs beyond these numbers; null for nothing
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
     * Checks the limit.
     *
     * @throws IllegalArgumentException if a part is out of its range or the arithmetic would not be exact; the message
     *     names the value and what to write instead
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
                    + " (1 microsecond to 71 years); write one such as 10s");
        }
        if ((algorithm == Algorithm.BLOCK) != (terms instanceof BlockTerms)) {
            throw new IllegalArgumentException("a block is not one of the limits; write it on a line of its own:"
                    + " block = 20/10m for 15m up to 24h; in code, Limit.block(...)");
        }
        algorithm.check(permits, periodMicros, burst);
        if (terms instanceof CalendarWindow calendar && !calendar.fits(algorithm, periodMicros)) {
            throw new IllegalArgumentException("'" + terms + "' is for a fixed window of " + calendar.periodText()
                    + ", not for " + algorithm.text() + "; write 'fixed " + terms + "'");
        }
    }

    /** A limit that is identified by its name or, without one, by its period. */
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
        this(name, algorithm, permits, periodMicros, burst, identity(name, algorithm, periodMicros, terms), terms);
    }

    private static String identity(
            @Nullable String name, Algorithm algorithm, long periodMicros, @Nullable Terms terms) {
        return name != null
                ? name
                : terms instanceof CalendarWindow calendar ? calendar.identity() : algorithm.identity(periodMicros);
    }

    /** At most {@code permits} in a window that starts with the first admitted call. */
    public static Limit fixedWindow(long permits, Duration period) {
        return new Limit(null, Algorithm.FIXED_WINDOW, permits, micros(period), permits);
    }

    /**
     * The same permits in windows that turn at calendar time: {@code fixedWindow(1000, Duration.ofDays(1)).aligned(rome)}
     * begins anew at each midnight in Rome. A week is 7 days, a month {@link java.time.temporal.ChronoUnit#MONTHS}'s duration.
     *
     * @throws IllegalArgumentException if this is no fixed window, the period does not fit the calendar, or the zone's
     *     id is an
     *     abbreviation
     */
    public Limit aligned(ZoneId zone) {
        return new Limit(name, algorithm, permits, periodMicros, burst, new CalendarWindow(periodMicros, zone));
    }

    /** At most {@code permits} in any period, wherever it starts. */
    public static Limit slidingList(long permits, Duration period) {
        return new Limit(null, Algorithm.SLIDING_LIST, permits, micros(period), permits);
    }

    /** At most {@code permits} in any period, and a call repeated with its request id is charged once. */
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

    /**
     * At most {@code permits} different {@linkplain Charge#member() members} in a window that starts with the first one. A
     * member that is known is allowed again and costs nothing.
     */
    public static Limit distinct(long permits, Duration period) {
        return new Limit(null, Algorithm.DISTINCT, permits, micros(period), permits);
    }

    /**
     * The same limit, but a known member is denied until the window ends: {@code 5/1d distinct repeat deny}.
     *
     * @throws IllegalArgumentException if it does not count members
     */
    public Limit denyingRepeats() {
        if (algorithm != Algorithm.DISTINCT) {
            throw new IllegalArgumentException(
                    "'repeat deny' on " + algorithm.text() + ": only distinct knows its members; leave it out");
        }
        return new Limit(name, algorithm, permits, periodMicros, burst, identity, Repeats.DENY);
    }

    private enum Repeats implements Terms {
        DENY;

        @Override
        public String options(long unixMicros) {
            return "repeat=deny";
        }

        @Override
        public String toString() {
            return "repeat deny";
        }
    }

    /**
     * Not a quota: this number of denials within a window that starts with the first one blocks the key. See {@link
     * Algorithm#BLOCK}.
     *
     * @param first how long the first block lasts; each later one twice as long as the one before
     * @param longest the longest that a block lasts
     */
    public static Limit block(long denials, Duration period, Duration first, Duration longest) {
        BlockTerms terms = new BlockTerms(micros(first), micros(longest));
        return new Limit(Algorithm.BLOCK.text(), Algorithm.BLOCK, denials, micros(period), denials, terms);
    }

    /**
     * A stock of permits, of which each member gets at most {@code each}.
     *
     * @param hold how long a purchase lasts unless it is confirmed; zero for ever
     * @param opens when the first one is sold; null for at once
     * @param closes from when on nothing is sold any more
     * @throws IllegalArgumentException if a number is out of range, or it closes before it opens
     */
    public static Limit allotment(long permits, long each, Duration hold, @Nullable Instant opens, Instant closes) {
        long period = hold.isZero() ? MAX_PERIOD_MICROS : micros(hold);
        AllotmentTerms terms = new AllotmentTerms(opens == null ? 0 : micros(opens), micros(closes));
        return new Limit(null, Algorithm.ALLOTMENT, permits, period, each, terms);
    }

    /** The same limit with a name of its own, which also identifies its state. */
    public Limit named(String newName) {
        return new Limit(Objects.requireNonNull(newName, "name"), algorithm, permits, periodMicros, burst, terms);
    }

    /** The same limit with a name that does not identify its state. */
    Limit called(String defaultName) {
        return new Limit(defaultName, algorithm, permits, periodMicros, burst, identity, terms);
    }

    /** The period as a duration. */
    public Duration period() {
        return Duration.of(periodMicros, ChronoUnit.MICROS);
    }

    /**
     * The highest cost that can ever be granted at once: the burst of a bucket, the share of one member of an
     * allotment, else the permits. Any number for a block, which takes nothing.
     */
    public long capacity() {
        return algorithm.isQuota() ? burst : MAX_PERMITS;
    }

    /** The most that can ever remain: the burst of a bucket, else the permits; of a block, which is no quota, nothing. */
    public long quota() {
        return algorithm.hasBurst() ? burst : algorithm.isQuota() ? permits : 0;
    }

    /**
     * The greatest common divisor of permits and period. A bucket's refill is {@code permits / divisor} parts of a
     * permit each microsecond, where a permit has {@code periodMicros / divisor} parts.
     */
    public long refillDivisor() {
        return gcd(permits, periodMicros);
    }

    /** The name that the policy gave. */
    String givenName() {
        return Objects.requireNonNull(name, "a limit of a policy has a name");
    }

    /** This limit divided among that number of instances, at least 1 permit (0 stays 0), for {@link FailureMode#LOCAL}. */
    Limit share(long instances) {
        return permits == 0 ? this : algorithm.share(this, instances);
    }

    /** Other numbers for the same state. */
    Limit with(long newPermits, long newPeriodMicros, long newBurst) {
        return new Limit(name, algorithm, newPermits, newPeriodMicros, newBurst, identity, terms);
    }

    /** The period in the largest unit that divides it: {@code 10s}, {@code 1h}, {@code 86400000011us}; {@code 1month}. */
    public String periodText() {
        return terms instanceof CalendarWindow calendar ? calendar.periodText() : text(periodMicros);
    }

    static String text(long micros) {
        int unit = 0;
        while (micros % UNIT_MICROS[unit] != 0) {
            unit++;
        }
        return micros / UNIT_MICROS[unit] + UNITS[unit];
    }

    /** The limit as configuration text: {@code 3/10s sliding-list}. */
    @Override
    public String toString() {
        boolean isStock = algorithm == Algorithm.ALLOTMENT;
        return permits + (isStock ? "" : "/" + periodText()) + " " + algorithm.text()
                + (isStock ? " each " + burst : burst != permits ? " burst " + burst : "")
                + (isStock && periodMicros < MAX_PERIOD_MICROS ? " hold " + periodText() : "")
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

    private static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    private static long micros(Duration period) {
        if (period.getNano() % 1_000 != 0) {
            throw new IllegalArgumentException("a period of " + period + " is finer than a microsecond; round it");
        }
        return TimeUnit.MICROSECONDS.convert(period);
    }
}
