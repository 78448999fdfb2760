package io.limiter;

import io.limiter.internal.Algorithm;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How much of something is allowed: one of the kinds that the methods here make. More kinds will come, so code can't depend
 * on knowing all of them. The quota policy of the IETF draft <i>RateLimit header fields for HTTP</i>. Immutable; compared by
 * value.
 *
 * <p>A limit of 0 permits denies every call that costs a permit. All arithmetic is in whole numbers below 2<sup>53</sup>; a
 * limit that would exceed this is refused.
 */
public final class Limit {
    /** The largest permits of a limit whose state and work grow with them. */
    public static final long MAX_LOG_PERMITS = 10_000;

    /** The largest permits of any limit: 2<sup>52</sup>. */
    public static final long MAX_PERMITS = 1L << 52;

    /** The longest period: 2<sup>51</sup> microseconds, 71 years. */
    public static final long MAX_PERIOD_MICROS = 1L << 51;

    /** How long the state of a stock is kept after it closes, so that late retries, returns and confirmations find it. */
    public static final long KEPT_MICROS = 86_400_000_000L;

    /** When a stock closes at the latest: in the year 2112, as of all times that decisions accept. */
    private static final long LATEST_MICROS = (1L << 52) - KEPT_MICROS;

    private static final Duration USUAL_HOLD = Duration.ofSeconds(30);
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");
    private static final String[] UNITS = {"d", "h", "m", "s", "ms", "us"};
    private static final long[] UNIT_MICROS = {86_400_000_000L, 3_600_000_000L, 60_000_000L, 1_000_000L, 1_000L, 1L};

    private final Terms terms;
    /** Null until the policy gives it its default name. */
    private final @Nullable String name;
    /** The given name, which identifies its state; null for the usual identity of its kind. */
    private final @Nullable String stateName;
    /** Null unless its windows turn at calendar time. */
    private final @Nullable CalendarWindow calendar;
    // Copies of those in the terms: each decision reads them, and one access less is faster.
    private final long permits;
    private final long periodMicros;
    private final String identity;
    private final String words;
    private final String options;

    /**
     * What is limited, without names. Checks itself; the message of a refusal names the value and what to write instead.
     *
     * @param permits how many per period; of a block denials
     * @param periodMicros from 1 to {@link #MAX_PERIOD_MICROS}; of a stock and of calls in flight how long a hold lasts
     * @param burst the most at once: of a bucket, of one member of a stock; else the permits
     * @param from when a stock opens, how long the first block lasts, 1 where a known member is denied; else 0
     * @param until when a stock closes, how long the longest block lasts; else 0
     * @param zone of a fixed window at calendar time; else null
     */
    private record Terms(
            Algorithm algorithm,
            long permits,
            long periodMicros,
            long burst,
            long from,
            long until,
            @Nullable ZoneId zone) {
        Terms {
            refuseIf(
                    permits < 0 || permits > MAX_PERMITS,
                    "a limit of " + permits + " permits is outside 0.." + MAX_PERMITS + "; 0 denies all");
            refuseIf(
                    periodMicros < 1 || periodMicros > MAX_PERIOD_MICROS,
                    "a period of " + periodMicros + " us is outside 1.." + MAX_PERIOD_MICROS
                            + " (1 microsecond to 71 years); write one such as 10s");
            refuseIf(
                    permits > MAX_LOG_PERMITS && (algorithm.isLog() || algorithm.isInFlight()),
                    algorithm.text() + " keeps one entry a permit and takes at most " + MAX_LOG_PERMITS
                            + " permits, not " + permits
                            + (algorithm.isLog() && !algorithm.takesMembers() ? "; use token-bucket" : ""));
            switch (algorithm) {
                case TOKEN_BUCKET -> checkBucket(permits, periodMicros, burst);
                case ALLOTMENT -> checkStock(permits, burst, from, until);
                case BLOCK -> {
                    refuseIf(permits == 0, "a block after 0 denials; write at least 1, or a limit of 0 permits");
                    refuseIf(
                            from < 1 || until < from || until > MAX_PERIOD_MICROS,
                            "a block for " + text(from) + " up to " + text(until)
                                    + "; write a longest block of at least the first one and at most 71 years, such as"
                                    + " 'for 15m up to 24h'");
                }
                case CONCURRENT ->
                    refuseIf(
                            periodMicros < 1_000_000 || periodMicros > 3_600_000_000L,
                            "a hold of " + text(periodMicros)
                                    + " for calls in flight is outside 1s to 1h; write for how long the permits of"
                                    + " an instance that died are kept, such as 30s");
                case FIXED_WINDOW, SLIDING_LIST, SLIDING_ZSET, DISTINCT -> {}
            }
        }

        Terms counting(long newPermits, long newPeriodMicros, long newBurst) {
            return new Terms(algorithm, newPermits, newPeriodMicros, newBurst, from, until, zone);
        }

        /** What identifies the state of a limit without a name of its own: never its permits. */
        String identity() {
            return switch (algorithm) {
                // Its state is one, however long holds last: a stock is not full again because they last longer.
                case ALLOTMENT -> "stock";
                case CONCURRENT -> "calls";
                case BLOCK -> algorithm.text();
                default -> Long.toString(periodMicros);
            };
        }

        /** The configuration text behind its kind, each word with a space before it. */
        String words() {
            return switch (algorithm) {
                case TOKEN_BUCKET -> burst == permits ? "" : " burst " + burst;
                case DISTINCT -> from == 0 ? "" : " repeat deny";
                case CONCURRENT -> periodMicros == micros(USUAL_HOLD) ? "" : " hold " + text(periodMicros);
                case BLOCK -> " for " + text(from) + " up to " + text(until);
                case ALLOTMENT ->
                    " each " + burst + (periodMicros == MAX_PERIOD_MICROS ? "" : " hold " + text(periodMicros))
                            + (from == 0 ? "" : " opens " + time(from)) + " closes " + time(until);
                case FIXED_WINDOW, SLIDING_LIST, SLIDING_ZSET -> "";
            };
        }

        /** What its script reads beyond its numbers. */
        String options() {
            return switch (algorithm) {
                case DISTINCT -> from == 0 ? "" : "repeat=deny";
                case BLOCK -> "for=" + from + ",to=" + until;
                case ALLOTMENT -> "opens=" + from + ",closes=" + until;
                default -> "";
            };
        }
    }

    private Limit(Terms terms, @Nullable String name, @Nullable String stateName) {
        this.terms = terms;
        this.name = name;
        this.stateName = stateName;
        this.permits = terms.permits;
        this.periodMicros = terms.periodMicros;
        this.calendar = terms.zone == null ? null : new CalendarWindow(periodMicros, terms.zone);
        this.identity = stateName != null ? stateName : calendar != null ? calendar.identity() : terms.identity();
        this.words = calendar != null ? " " + calendar : terms.words();
        // The turns, which its script reads, are other ones at each time.
        this.options = calendar != null ? "turns=" : terms.options();
        checkName("limit", identity);
    }

    private static Limit of(Algorithm algorithm, long permits, long periodMicros, long burst, long from, long until) {
        return new Limit(new Terms(algorithm, permits, periodMicros, burst, from, until, null), null, null);
    }

    /** A limit of this algorithm that can grant all of its permits at once, without options. For this library. */
    public static Limit of(Algorithm algorithm, long permits, Duration period) {
        refuseIf(
                !algorithm.isQuota(),
                "a block is not one of the limits; write it on a line of its own:"
                        + " block = 20/10m for 15m up to 24h; in code, Limit.block(...)");
        return of(algorithm, permits, micros(period), permits, 0, algorithm == Algorithm.ALLOTMENT ? LATEST_MICROS : 0);
    }

    /**
     * At most {@code permits} in a window that starts with the first admitted call, or {@linkplain #withZone at calendar time}.
     * Smallest and cheapest; a caller can get up to twice the limit across a window's edge.
     */
    public static Limit fixedWindow(long permits, Duration period) {
        return of(Algorithm.FIXED_WINDOW, permits, period);
    }

    /** At most {@code permits} in any period, wherever it starts; at most {@value #MAX_LOG_PERMITS}. */
    public static Limit slidingList(long permits, Duration period) {
        return of(Algorithm.SLIDING_LIST, permits, period);
    }

    /** At most {@code permits} in any period, and a call repeated with its request id is charged once. */
    public static Limit slidingZset(long permits, Duration period) {
        return of(Algorithm.SLIDING_ZSET, permits, period);
    }

    /** A bucket that holds {@code permits} and refills by as many per period, continuously. */
    public static Limit tokenBucket(long permits, Duration period) {
        return of(Algorithm.TOKEN_BUCKET, permits, period);
    }

    /** A bucket that holds {@code burst} permits and refills by {@code permits} per period, continuously. */
    public static Limit tokenBucket(long permits, Duration period, long burst) {
        return of(Algorithm.TOKEN_BUCKET, permits, micros(period), burst, 0, 0);
    }

    /**
     * At most {@code permits} different {@linkplain Charge#member() members} in a window that starts with the first one, at
     * most {@value #MAX_LOG_PERMITS}. A member that is known is allowed again and costs nothing; {@link #withRepeatsDenied}.
     */
    public static Limit distinct(long permits, Duration period) {
        return of(Algorithm.DISTINCT, permits, period);
    }

    /**
     * A stock of permits, of which each {@linkplain Charge#member() member} gets at most {@code each}; at most {@value
     * #MAX_LOG_PERMITS}. No rate: nothing refills, except that holds end if they are not confirmed. A call repeated with its
     * request id gets the same answer. In configuration text, {@code allotment}.
     *
     * @param hold how long a purchase lasts unless it is confirmed; zero for ever
     * @param opens when the first one is sold; null for at once
     * @param closes from when on nothing is sold any more
     * @throws IllegalArgumentException if a number is out of range, or it closes before it opens
     */
    public static Limit allotment(long permits, long each, Duration hold, @Nullable Instant opens, Instant closes) {
        return of(
                Algorithm.ALLOTMENT,
                permits,
                hold.isZero() ? MAX_PERIOD_MICROS : micros(hold),
                each,
                opens == null ? 0 : ChronoUnit.MICROS.between(Instant.EPOCH, opens),
                ChronoUnit.MICROS.between(Instant.EPOCH, closes));
    }

    /**
     * At most {@code permits} in flight at the same moment, 10 000 at most, from admission to the end of the call: {@link
     * RateLimiter#enter}. The permits of an instance that died come back after 30 seconds.
     */
    public static Limit concurrent(long permits) {
        return concurrent(permits, USUAL_HOLD);
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
     * No quota: blocks a key that the other limits of its policy deny repeatedly, when that number of denials is reached within
     * a window that starts with the first one. A key that was not blocked for as long as the longest block lasts begins with the
     * first length again. Allowed calls change nothing. A policy has at most one, and counts it after its limits: {@link
     * Policy#penalty}.
     *
     * @param first how long the first block lasts; each later one twice as long as the one before
     * @param longest the longest that a block lasts
     */
    public static Limit block(long denials, Duration period, Duration first, Duration longest) {
        return of(Algorithm.BLOCK, denials, micros(period), denials, micros(first), micros(longest))
                .called(Algorithm.BLOCK.text());
    }

    /**
     * The same permits in windows that turn at calendar time: {@code fixedWindow(1000, Duration.ofDays(1)).withZone(rome)}
     * begins anew at each midnight in Rome. A week is 7 days, a month {@link ChronoUnit#MONTHS}'s duration.
     *
     * @throws IllegalArgumentException if it is no {@link #fixedWindow}, or the period does not fit the calendar
     */
    public Limit withZone(ZoneId zone) {
        refuseIf(algorithm() != Algorithm.FIXED_WINDOW, "'" + this + "' can't turn at calendar time; write fixed");
        return new Limit(
                new Terms(algorithm(), permits, periodMicros, burst(), 0, 0, Objects.requireNonNull(zone, "zone")),
                name,
                stateName);
    }

    /**
     * The same limit, but a known member is denied until the window ends: {@code 5/1d distinct repeat deny}.
     *
     * @throws IllegalArgumentException if it is not {@link #distinct}
     */
    public Limit withRepeatsDenied() {
        refuseIf(algorithm() != Algorithm.DISTINCT, "'" + this + "' can't deny repeated members; write distinct");
        return new Limit(new Terms(algorithm(), permits, periodMicros, burst(), 1, 0, null), name, stateName);
    }

    /** The name of the limit in its policy and in answers; null until the policy gives it its default name. */
    public @Nullable String name() {
        return name;
    }

    /** The same limit with a name of its own, which also identifies its state: 1 to 64 of {@code A-Z a-z 0-9 . _ -}. */
    public Limit withName(String newName) {
        return new Limit(terms, Objects.requireNonNull(newName, "name"), newName);
    }

    /** The same limit with a name that does not identify its state. */
    Limit called(String defaultName) {
        checkName("limit", defaultName);
        return new Limit(terms, defaultName, stateName);
    }

    /** How many permits it grants in a period, or in all; how many denials a block takes. */
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
        return terms.burst;
    }

    /**
     * The highest cost that can ever be granted at once: the burst of a bucket, the share of one member of a stock, else the
     * permits. Any number for a block, which takes nothing.
     */
    public long capacity() {
        return isBlock() ? MAX_PERMITS : burst();
    }

    /** The most that can ever remain: the burst of a bucket, else the permits; of a block, which is no quota, nothing. */
    public long quota() {
        return algorithm().hasBurst() ? burst() : isBlock() ? 0 : permits;
    }

    /**
     * The window of the response fields: whole seconds in which all of its quota is available again; 0 if no whole number of
     * seconds is correct, or nothing refills. Of a bucket the time in which an empty one refills, so that quota by window is
     * its long-term rate.
     */
    public long windowSeconds() {
        boolean isBucket = algorithm() == Algorithm.TOKEN_BUCKET;
        if (!algorithm().refills() || calendar != null || isBucket && permits == 0) {
            // Windows of the calendar differ in length.
            return 0;
        }
        if (isBucket) {
            long divisor = refillDivisor();
            long micros = -Math.floorDiv(-burst() * (periodMicros / divisor), permits / divisor);
            return micros < 1_000_000 ? 0 : -Math.floorDiv(-micros, 1_000_000);
        }
        // Rounded down it would promise too much (and 0 is no window), rounded up too little.
        return periodMicros % 1_000_000 == 0 ? periodMicros / 1_000_000 : 0;
    }

    /** The name of its kind in configuration text, such as {@code sliding-list}. */
    public String kind() {
        return algorithm().text();
    }

    /** How backends count it. For this library. */
    public Algorithm algorithm() {
        return terms.algorithm;
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
        return calendar == null ? options : calendar.options(unixMicros);
    }

    /** The period that its script gets at that time, in microseconds: its own, unless windows differ in length. For this library. */
    public long periodMicros(long unixMicros) {
        return calendar == null ? periodMicros : calendar.longestMicros(unixMicros);
    }

    /** Whether its windows turn at calendar time. */
    public boolean isAligned() {
        return calendar != null;
    }

    /** When the window ends that begins at that time, or is open then at calendar time. In microseconds since 1970. For this library. */
    public long endMicros(long unixMicros) {
        return calendar == null ? unixMicros + periodMicros : calendar.nextTurnMicros(unixMicros);
    }

    /** When a stock opens, in microseconds since 1970, 0 for at once; how long the first block lasts. For this library. */
    public long fromMicros() {
        return terms.from;
    }

    /** When a stock closes, in microseconds since 1970; how long the longest block lasts. For this library. */
    public long untilMicros() {
        return terms.until;
    }

    /** Whether a known member is denied. */
    public boolean deniesRepeats() {
        return algorithm() == Algorithm.DISTINCT && terms.from != 0;
    }

    /**
     * The greatest common divisor of permits and period. The refill of a bucket is {@code permits / divisor} parts of a permit
     * each microsecond, where a permit has {@code periodMicros / divisor} parts. For this library.
     */
    public long refillDivisor() {
        return gcd(permits, periodMicros);
    }

    /** Whether it caps calls in flight. */
    boolean isInFlight() {
        return algorithm().isInFlight();
    }

    /** Whether it is no quota, but blocks keys that are denied. */
    boolean isBlock() {
        return !algorithm().isQuota();
    }

    /** The name that the policy gave. */
    String givenName() {
        return Objects.requireNonNull(name, "a limit of a policy has a name");
    }

    /** This limit divided among that number of instances, at least 1 permit (0 stays 0), for {@link FailureMode#LOCAL}. */
    Limit share(long instances) {
        if (permits == 0 || isBlock()) {
            // A share of the limits denies the same caller as often as the whole ones.
            return this;
        }
        if (!algorithm().isShareable()) {
            throw new IllegalStateException("instances can't sell parts of one stock: " + this);
        }
        long share = Math.max(1, permits / instances);
        if (algorithm() != Algorithm.TOKEN_BUCKET) {
            return new Limit(terms.counting(share, periodMicros, share), name, stateName);
        }
        long burst = Math.max(1, burst() / instances);
        // As many permits in a period that is as much longer, so the refill stays exact. Where that would be too long,
        // fewer permits, and no larger burst than can be counted exactly.
        Terms shared = instances <= MAX_PERIOD_MICROS / periodMicros
                ? terms.counting(permits, periodMicros * instances, burst)
                : terms.counting(share, periodMicros, Math.min(burst, mostExact(share, periodMicros)));
        return new Limit(shared, name, stateName);
    }

    /** What distinguishes it from other limits of its policy in its default name. */
    String label() {
        return isInFlight() ? kind() : periodText();
    }

    /** The period in the largest unit that divides it: {@code 10s}, {@code 1h}, {@code 86400000011us}; {@code 1month}. */
    private String periodText() {
        return calendar == null ? text(periodMicros) : calendar.periodText();
    }

    /** As configuration text, without a name: {@code 3/10s sliding-list}. */
    public String text() {
        boolean isRate = algorithm().refills() || isBlock();
        return permits + (isRate ? "/" + periodText() : "") + " " + kind() + words;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || other instanceof Limit that
                        && terms.equals(that.terms)
                        && Objects.equals(name, that.name)
                        && Objects.equals(stateName, that.stateName);
    }

    @Override
    public int hashCode() {
        return terms.hashCode();
    }

    /** The limit as configuration text: {@code 3/10s sliding-list}. */
    @Override
    public String toString() {
        return text() + (name == null ? "" : " name " + name);
    }

    private static void checkBucket(long permits, long periodMicros, long burst) {
        refuseIf(
                permits == 0 ? burst != 0 : burst < 1 || burst > MAX_PERMITS,
                "a burst of " + burst + " with " + permits + " permits: "
                        + (permits == 0
                                ? "a bucket that never refills denies all, leave the burst out"
                                : "a bucket holds from 1 to " + MAX_PERMITS));
        refuseIf(
                burst > mostExact(permits, periodMicros),
                "a bucket of " + burst + " at " + permits + " per " + periodMicros
                        + " us can't be counted exactly (its parts are above 2^52); use a smaller burst, or permits and a"
                        + " period with a larger common divisor");
    }

    private static void checkStock(long permits, long each, long opens, long closes) {
        refuseIf(
                permits > MAX_LOG_PERMITS || each > permits || each < Math.min(permits, 1),
                "an allotment of " + permits + " with " + each + " for each member; it has at most " + MAX_LOG_PERMITS
                        + ", and from 1 to all of them for each");
        refuseIf(
                opens < 0 || closes <= opens || closes > LATEST_MICROS,
                "RL-172 it opens at " + time(opens) + " and closes at " + time(closes)
                        + "; write a closing time that is later than the opening, from 1970 to 2112");
    }

    /** The largest burst of a bucket whose credit is counted exactly, in parts of a permit. */
    private static long mostExact(long permits, long periodMicros) {
        return MAX_PERMITS / (periodMicros / gcd(permits, periodMicros));
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }

    private static Instant time(long unixMicros) {
        return Instant.EPOCH.plus(unixMicros, ChronoUnit.MICROS);
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
