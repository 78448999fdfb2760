package io.limiter;

import io.limiter.internal.Algorithm;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How much of something is allowed: one of the kinds that the methods here make. More kinds will come, and some have no public
 * class, so code can't depend on knowing all of them. The quota policy of the IETF draft
 * <i>RateLimit header fields for HTTP</i>. Immutable; compared by value.
 *
 * <p>A limit of 0 permits denies every call that costs a permit. All arithmetic is in whole numbers below 2<sup>53</sup>; a
 * limit that would exceed this is refused.
 *
 * <p>What all kinds have is here, and what backends ask of every kind. A kind has its own numbers, checks them, writes them as
 * text and as options of its script, and knows its share and its window.
 */
public abstract sealed class Limit
        permits ConcurrentLimit, DistinctMembers, FixedWindow, Penalty, SlidingLog, Stock, TokenBucket {
    /** The largest permits of a limit whose state and work grow with them. */
    public static final long MAX_LOG_PERMITS = 10_000;

    /** The largest permits of any limit: 2<sup>52</sup>. */
    public static final long MAX_PERMITS = 1L << 52;

    /** The longest period: 2<sup>51</sup> microseconds, 71 years. */
    public static final long MAX_PERIOD_MICROS = 1L << 51;

    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final String[] UNITS = {"d", "h", "m", "s", "ms", "us"};
    private static final long[] UNIT_MICROS = {86_400_000_000L, 3_600_000_000L, 60_000_000L, 1_000_000L, 1_000L, 1L};

    private final Head head;
    // Copies of those in the head: each decision reads them, and one access less is faster.
    private final long permits;
    private final long periodMicros;
    private final String identity;
    private final String words;
    private final String options;

    /**
     * What all kinds are made of.
     *
     * @param permits how many per period; of a penalty denials
     * @param periodMicros the period in microseconds, from 1 to {@link #MAX_PERIOD_MICROS}
     * @param burst the most at once: of a bucket, of one member of a stock; else the permits
     * @param name null until the policy gives it its default name
     * @param stateName the name that identifies its state; null for the usual identity of its kind
     */
    record Head(
            Algorithm algorithm,
            long permits,
            long periodMicros,
            long burst,
            @Nullable String name,
            @Nullable String stateName) {
        Head(Algorithm algorithm, long permits, long periodMicros, long burst) {
            this(algorithm, permits, periodMicros, burst, null, null);
        }

        Head named(String newName, @Nullable String newStateName) {
            return new Head(algorithm, permits, periodMicros, burst, newName, newStateName);
        }

        Head counting(long newPermits, long newPeriodMicros, long newBurst) {
            return new Head(algorithm, newPermits, newPeriodMicros, newBurst, name, stateName);
        }
    }

    /**
     * Checks what all kinds have.
     *
     * @param usual what identifies the state of a limit without a name of its own: never its permits
     * @param words the configuration text behind its kind, each word with a space before it
     * @param options what its script reads beyond its numbers
     * @throws IllegalArgumentException if a part is out of its range; the message names the value and what to write instead
     */
    Limit(Head head, String usual, String words, String options) {
        this.head = head;
        this.permits = head.permits;
        this.periodMicros = head.periodMicros;
        this.identity = head.stateName == null ? usual : head.stateName;
        this.words = words;
        this.options = options;
        checkName("limit", identity);
        refuseIf(
                permits < 0 || permits > MAX_PERMITS,
                "a limit of " + permits + " permits is outside 0.." + MAX_PERMITS + "; 0 denies all");
        refuseIf(
                periodMicros < 1 || periodMicros > MAX_PERIOD_MICROS,
                "a period of " + periodMicros + " us is outside 1.." + MAX_PERIOD_MICROS
                        + " (1 microsecond to 71 years); write one such as 10s");
        boolean hasEntries = head.algorithm.isLog() || isInFlight();
        refuseIf(
                hasEntries && permits > MAX_LOG_PERMITS,
                kind() + " keeps one entry a permit and takes at most " + MAX_LOG_PERMITS + " permits, not " + permits
                        + (hasEntries && this instanceof SlidingLog ? "; use token-bucket" : ""));
    }

    /** A limit of this algorithm that can grant all of its permits at once, without options. For this library. */
    public static Limit of(Algorithm algorithm, long permits, Duration period) {
        Head head = new Head(algorithm, permits, micros(period), permits);
        return switch (algorithm) {
            case FIXED_WINDOW -> new FixedWindow(head, null);
            case SLIDING_LIST, SLIDING_ZSET -> new SlidingLog(head);
            case TOKEN_BUCKET -> new TokenBucket(head);
            case DISTINCT -> new DistinctMembers(head, false);
            case ALLOTMENT -> new Stock(head, 0, Stock.LATEST_MICROS);
            case CONCURRENT -> new ConcurrentLimit(head);
            case BLOCK ->
                throw new IllegalArgumentException("a block is not one of the limits; write it on a line of its own:"
                        + " block = 20/10m for 15m up to 24h; in code, Limit.block(...)");
        };
    }

    /** At most {@code permits} in a window that starts with the first admitted call. */
    public static FixedWindow fixedWindow(long permits, Duration period) {
        return (FixedWindow) of(Algorithm.FIXED_WINDOW, permits, period);
    }

    /** At most {@code permits} in any period, wherever it starts. */
    public static Limit slidingList(long permits, Duration period) {
        return of(Algorithm.SLIDING_LIST, permits, period);
    }

    /** At most {@code permits} in any period, and a call repeated with its request id is charged once. */
    public static Limit slidingZset(long permits, Duration period) {
        return of(Algorithm.SLIDING_ZSET, permits, period);
    }

    /** A bucket that holds {@code permits} and refills by as many per period, continuously. */
    public static TokenBucket tokenBucket(long permits, Duration period) {
        return tokenBucket(permits, period, permits);
    }

    /** A bucket that holds {@code burst} permits and refills by {@code permits} per period, continuously. */
    public static TokenBucket tokenBucket(long permits, Duration period, long burst) {
        return new TokenBucket(new Head(Algorithm.TOKEN_BUCKET, permits, micros(period), burst));
    }

    /**
     * At most {@code permits} different {@linkplain Charge#member() members} in a window that starts with the first one. A
     * member that is known is allowed again and costs nothing.
     */
    public static DistinctMembers distinct(long permits, Duration period) {
        return (DistinctMembers) of(Algorithm.DISTINCT, permits, period);
    }

    /**
     * A stock of permits, of which each member gets at most {@code each}.
     *
     * @param hold how long a purchase lasts unless it is confirmed; zero for ever
     * @param opens when the first one is sold; null for at once
     * @param closes from when on nothing is sold any more
     * @throws IllegalArgumentException if a number is out of range, or it closes before it opens
     */
    public static Stock allotment(long permits, long each, Duration hold, @Nullable Instant opens, Instant closes) {
        return Stock.of(permits, each, hold, opens, closes);
    }

    /**
     * At most {@code permits} in flight at the same moment, 10 000 at most, from admission to the end of the call: {@link
     * RateLimiter#enter}. The permits of an instance that died come back after 30 seconds.
     */
    public static Limit concurrent(long permits) {
        return concurrent(permits, ConcurrentLimit.USUAL_HOLD);
    }

    /**
     * The same with a time of its own after which permits come back.
     *
     * @param hold after which time the permits of an instance that died come back, from 1 second to 1 hour; an instance renews
     *     its own each third of it, at least every 10 seconds
     */
    public static Limit concurrent(long permits, Duration hold) {
        return of(Algorithm.CONCURRENT, permits, hold);
    }

    /**
     * Blocks a key that the other limits of its policy deny repeatedly: that number of denials within a window that starts
     * with the first one.
     *
     * @param first how long the first block lasts; each later one twice as long as the one before
     * @param longest the longest that a block lasts
     */
    public static Penalty block(long denials, Duration period, Duration first, Duration longest) {
        return Penalty.of(denials, period, first, longest);
    }

    /** This with another head. */
    abstract Limit with(Head other);

    /** The name of the limit in its policy and in answers; null until the policy gives it its default name. */
    public @Nullable String name() {
        return head.name;
    }

    /** The same limit with a name of its own, which also identifies its state: 1 to 64 of {@code A-Z a-z 0-9 . _ -}. */
    public Limit withName(String newName) {
        return with(head.named(Objects.requireNonNull(newName, "name"), newName));
    }

    /** The same limit with a name that does not identify its state. */
    Limit called(String defaultName) {
        checkName("limit", defaultName);
        return with(head.named(defaultName, head.stateName));
    }

    /** How many permits it grants in a period, or in all; how many denials a {@link Penalty} takes. */
    public long permits() {
        return permits;
    }

    /** The time after which what was taken counts no more, or by which as many have refilled; of a stock and of calls in flight, a hold's. */
    public Duration period() {
        return Duration.of(periodMicros, ChronoUnit.MICROS);
    }

    /** {@link #period} in microseconds, from 1 to {@link #MAX_PERIOD_MICROS}. */
    public long periodMicros() {
        return periodMicros;
    }

    /** How many permits a full bucket holds, or one member of a stock may have; of other kinds the permits. */
    public long burst() {
        return head.burst;
    }

    /**
     * The highest cost that can ever be granted at once: the burst of a bucket, the share of one member of a stock, else the
     * permits. Any number for a penalty, which takes nothing.
     */
    public long capacity() {
        return head.algorithm.isQuota() ? head.burst : MAX_PERMITS;
    }

    /** The most that can ever remain: the burst of a bucket, else the permits; of a penalty, which is no quota, nothing. */
    public long quota() {
        return head.algorithm.hasBurst() ? head.burst : head.algorithm.isQuota() ? permits : 0;
    }

    /**
     * The window of the response fields: whole seconds in which all of its quota is available again; 0 if no whole number of
     * seconds is correct, or nothing refills.
     */
    public long windowSeconds() {
        // Rounded down it would promise too much (and 0 is no window), rounded up too little.
        return head.algorithm.refills() && periodMicros % 1_000_000 == 0 ? periodMicros / 1_000_000 : 0;
    }

    /** The name of its kind in configuration text, such as {@code sliding-list}. */
    public String kind() {
        return head.algorithm.text();
    }

    /** How backends count it. For this library. */
    public Algorithm algorithm() {
        return head.algorithm;
    }

    /**
     * What identifies its state, together with policy, key and kind: the given name, else the period in microseconds. It
     * depends neither on other limits of the policy, nor on permits and burst.
     */
    public String identity() {
        return identity;
    }

    /** Whether its script reads more than its numbers: {@link #options}. For this library. */
    public boolean hasOptions() {
        return !options.isEmpty();
    }

    /**
     * What its script reads beyond its numbers, empty for nothing. For this library.
     *
     * @param unixMicros the time of the call on the clock of this machine, which may differ from the server's
     */
    public String options(long unixMicros) {
        return options;
    }

    /** The period that its script gets at that time, in microseconds: its own, unless windows differ in length. For this library. */
    public long periodMicros(long unixMicros) {
        return periodMicros;
    }

    /** Whether it caps calls in flight. */
    boolean isInFlight() {
        return head.algorithm.isInFlight();
    }

    /** The name that the policy gave. */
    String givenName() {
        return Objects.requireNonNull(head.name, "a limit of a policy has a name");
    }

    /** This limit divided among that number of instances, at least 1 permit (0 stays 0), for {@link FailureMode#LOCAL}. */
    Limit share(long instances) {
        long share = Math.max(1, permits / instances);
        return permits == 0 ? this : with(head.counting(share, periodMicros, share));
    }

    final Head head() {
        return head;
    }

    /** What distinguishes it from other limits of its policy in its default name. */
    String label() {
        return periodText();
    }

    /** The period in the largest unit that divides it: {@code 10s}, {@code 1h}, {@code 86400000011us}; {@code 1month}. */
    String periodText() {
        return text(periodMicros);
    }

    /** As configuration text, without a name: {@code 3/10s sliding-list}. */
    public String text() {
        boolean isRate = head.algorithm.refills() || !head.algorithm.isQuota();
        return permits + (isRate ? "/" + periodText() : "") + " " + kind() + words;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || other instanceof Limit that && head.equals(that.head) && words.equals(that.words);
    }

    @Override
    public int hashCode() {
        return head.hashCode();
    }

    /** The limit as configuration text: {@code 3/10s sliding-list}. */
    @Override
    public String toString() {
        return text() + (head.name == null ? "" : " name " + head.name);
    }

    static void refuseIf(boolean wrong, String text) {
        if (wrong) {
            throw new IllegalArgumentException(text);
        }
    }

    /** Checks a name of a policy or limit. */
    static void checkName(String what, String name) {
        refuseIf(
                !NAME.matcher(name).matches(),
                "'" + name + "' can't name a " + what
                        + "; use 1 to 64 letters, digits, dots, underscores and hyphens (A-Z a-z 0-9 . _ -)");
    }

    static String text(long micros) {
        int unit = 0;
        while (micros % UNIT_MICROS[unit] != 0) {
            unit++;
        }
        return micros / UNIT_MICROS[unit] + UNITS[unit];
    }

    /** The microseconds of a period; it must not be finer. */
    static long micros(Duration period) {
        refuseIf(period.toNanosPart() % 1_000 != 0, "a period of " + period + " is finer than a microsecond; round it");
        return TimeUnit.MICROSECONDS.convert(period);
    }
}
