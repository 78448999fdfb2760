package io.limiter.internal;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A limit as the backends count it: numbers, the identity of its state, and options of its algorithm. All arithmetic is in
 * whole numbers below 2<sup>53</sup>; what would exceed this is refused. Immutable.
 *
 * @param algorithm how it is kept
 * @param permits how many per period; of a block denials
 * @param periodMicros the period in microseconds, from 1 to {@link #MAX_PERIOD_MICROS}; of an aligned window that of an
 *     ordinary one; of a stock how long a hold lasts, of calls in flight how long the permits of an instance that died
 *     are kept
 * @param burst how many a full token bucket holds; the most that one member of a stock may have; equal to {@code permits}
 *     for every other algorithm
 * @param identity what identifies its state, together with policy, key and algorithm: the given name, else the period
 *     in microseconds. It does not depend on other limits of the policy, nor on permits and burst
 * @param terms what its algorithm needs beyond these numbers; null for nothing
 */
public record LimitSpec(
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

    /** How long the permits in flight of an instance that died are kept, unless configured. */
    public static final long USUAL_HOLD_MICROS = 30_000_000;

    static final long SHORTEST_HOLD_MICROS = 1_000_000;
    static final long LONGEST_HOLD_MICROS = 3_600_000_000L;

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
    public LimitSpec {
        Objects.requireNonNull(algorithm, "algorithm");
        checkName("limit", identity);
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

    /** A limit that is identified by its period. */
    public LimitSpec(Algorithm algorithm, long permits, long periodMicros, long burst, @Nullable Terms terms) {
        this(algorithm, permits, periodMicros, burst, identity(algorithm, periodMicros, terms), terms);
    }

    /** The same without terms. */
    public LimitSpec(Algorithm algorithm, long permits, long periodMicros, long burst) {
        this(algorithm, permits, periodMicros, burst, null);
    }

    /** A limit of a period that holds as many permits as it grants. */
    public static LimitSpec of(Algorithm algorithm, long permits, Duration period) {
        return new LimitSpec(algorithm, permits, micros(period), permits);
    }

    private static String identity(Algorithm algorithm, long periodMicros, @Nullable Terms terms) {
        return terms instanceof CalendarWindow calendar ? calendar.identity() : algorithm.identity(periodMicros);
    }

    /** The same with a state of its own, found by that name. */
    public LimitSpec identifiedBy(String name) {
        return new LimitSpec(algorithm, permits, periodMicros, burst, name, terms);
    }

    /** The same in windows that turn at calendar time; identified by its period and the zone. */
    public LimitSpec aligned(ZoneId zone) {
        return new LimitSpec(algorithm, permits, periodMicros, burst, new CalendarWindow(periodMicros, zone));
    }

    /**
     * The same limit, but a known member is denied until the window ends: {@code 5/1d distinct repeat deny}.
     *
     * @throws IllegalArgumentException if it does not count members
     */
    public LimitSpec denyingRepeats() {
        if (algorithm != Algorithm.DISTINCT) {
            throw new IllegalArgumentException(
                    "'repeat deny' on " + algorithm.text() + ": only distinct knows its members; leave it out");
        }
        return new LimitSpec(algorithm, permits, periodMicros, burst, identity, Repeats.DENY);
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

    /** The seconds in which all of its quota is available again: {@link Algorithm#windowSeconds}. */
    public long windowSeconds() {
        return algorithm.windowSeconds(this);
    }

    /** This limit divided among that number of instances, at least 1 permit (0 stays 0). */
    public LimitSpec share(long instances) {
        return permits == 0 ? this : algorithm.share(this, instances);
    }

    /** Other numbers for the same state. */
    LimitSpec with(long newPermits, long newPeriodMicros, long newBurst) {
        return new LimitSpec(algorithm, newPermits, newPeriodMicros, newBurst, identity, terms);
    }

    /** The period in the largest unit that divides it: {@code 10s}, {@code 1h}, {@code 86400000011us}; {@code 1month}. */
    public String periodText() {
        return terms instanceof CalendarWindow calendar ? calendar.periodText() : text(periodMicros);
    }

    /** What distinguishes it from other limits of its policy in its default name. */
    public String label() {
        return algorithm.isInFlight() ? algorithm.text() : periodText();
    }

    static String text(long micros) {
        int unit = 0;
        while (micros % UNIT_MICROS[unit] != 0) {
            unit++;
        }
        return micros / UNIT_MICROS[unit] + UNITS[unit];
    }

    /** As configuration text, without a name: {@code 3/10s sliding-list}. */
    @Override
    public String toString() {
        boolean isStock = algorithm == Algorithm.ALLOTMENT;
        boolean isInFlight = algorithm.isInFlight();
        return permits + (isStock || isInFlight ? "" : "/" + periodText()) + " " + algorithm.text()
                + (isStock ? " each " + burst : burst != permits ? " burst " + burst : "")
                + (isStock && periodMicros < MAX_PERIOD_MICROS || isInFlight && periodMicros != USUAL_HOLD_MICROS
                        ? " hold " + periodText()
                        : "")
                + (terms == null ? "" : " " + terms);
    }

    /**
     * Checks a name of a policy or limit.
     *
     * @throws IllegalArgumentException if it is unfit
     */
    public static void checkName(String what, String name) {
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

    /** Microseconds since 1970. */
    public static long micros(Instant time) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, time);
    }

    /**
     * The microseconds of a period.
     *
     * @throws IllegalArgumentException if it is finer
     */
    public static long micros(Duration period) {
        if (period.toNanosPart() % 1_000 != 0) {
            throw new IllegalArgumentException("a period of " + period + " is finer than a microsecond; round it");
        }
        return TimeUnit.MICROSECONDS.convert(period);
    }
}
