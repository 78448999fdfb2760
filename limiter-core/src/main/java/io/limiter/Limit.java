package io.limiter;

import io.limiter.internal.Algorithm;
import io.limiter.internal.LimitSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How much of something is allowed: one of the kinds that the methods here make, each with words of its own. Kinds will
 * join, so code must not need to know all of them. The quota policy of the IETF draft <i>RateLimit header fields for
 * HTTP</i>. Immutable; compared by value.
 *
 * <p>A limit of 0 permits denies every call that costs a permit. A limit that can't be counted exactly is refused.
 */
public abstract class Limit {
    /** The largest permits of a limit whose state grows with them. */
    public static final long MAX_LOG_PERMITS = LimitSpec.MAX_LOG_PERMITS;

    /** The largest permits of any limit: 2<sup>52</sup>. */
    public static final long MAX_PERMITS = LimitSpec.MAX_PERMITS;

    private final @Nullable String name;
    private final LimitSpec spec;
    private final long permits;

    Limit(@Nullable String name, LimitSpec spec) {
        this.name = name;
        this.spec = spec;
        this.permits = spec.permits();
    }

    /** The limit of a specification, which also names its state if it has a name. For this library. */
    public static Limit of(@Nullable String name, LimitSpec spec) {
        return name == null ? of(spec, null) : of(spec.identifiedBy(name), name);
    }

    private static Limit of(LimitSpec spec, @Nullable String name) {
        return switch (spec.algorithm()) {
            case FIXED_WINDOW -> new FixedWindow(name, spec);
            case SLIDING_LIST, SLIDING_ZSET -> new SlidingLog(name, spec);
            case TOKEN_BUCKET -> new TokenBucket(name, spec);
            case DISTINCT -> new DistinctMembers(name, spec);
            case BLOCK -> new Penalty(name, spec);
            case ALLOTMENT -> new Stock(name, spec);
            case CONCURRENT -> new ConcurrentLimit(name, spec);
        };
    }

    /** At most {@code permits} in a window that starts with the first admitted call. */
    public static FixedWindow fixedWindow(long permits, Duration period) {
        return new FixedWindow(null, LimitSpec.of(Algorithm.FIXED_WINDOW, permits, period));
    }

    /** At most {@code permits} in any period, wherever it starts. */
    public static SlidingLog slidingList(long permits, Duration period) {
        return new SlidingLog(null, LimitSpec.of(Algorithm.SLIDING_LIST, permits, period));
    }

    /** At most {@code permits} in any period, and a call repeated with its request id is charged once. */
    public static SlidingLog slidingZset(long permits, Duration period) {
        return new SlidingLog(null, LimitSpec.of(Algorithm.SLIDING_ZSET, permits, period));
    }

    /** A bucket that holds {@code permits} and refills by as many per period, continuously. */
    public static TokenBucket tokenBucket(long permits, Duration period) {
        return tokenBucket(permits, period, permits);
    }

    /** A bucket that holds {@code burst} permits and refills by {@code permits} per period, continuously. */
    public static TokenBucket tokenBucket(long permits, Duration period, long burst) {
        return new TokenBucket(null, new LimitSpec(Algorithm.TOKEN_BUCKET, permits, LimitSpec.micros(period), burst));
    }

    /**
     * At most {@code permits} different {@linkplain Charge#member() members} in a window that starts with the first one. A
     * member that is known is allowed again and costs nothing.
     */
    public static DistinctMembers distinct(long permits, Duration period) {
        return new DistinctMembers(null, LimitSpec.of(Algorithm.DISTINCT, permits, period));
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
        return concurrent(permits, Duration.of(LimitSpec.USUAL_HOLD_MICROS, ChronoUnit.MICROS));
    }

    /**
     * The same with another time.
     *
     * @param hold after which time the permits of an instance that died come back, from 1 second to 1 hour; an instance renews
     *     its own each third of it, at least every 10 seconds
     */
    public static Limit concurrent(long permits, Duration hold) {
        return new ConcurrentLimit(null, LimitSpec.of(Algorithm.CONCURRENT, permits, hold));
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

    /** The name of the limit in its policy and in answers; null until the policy gives it its default name. */
    public @Nullable String name() {
        return name;
    }

    /** The same limit with a name of its own, which also identifies its state: 1 to 64 of {@code A-Z a-z 0-9 . _ -}. */
    public Limit withName(String newName) {
        return of(Objects.requireNonNull(newName, "name"), spec);
    }

    /** The same limit with a name that does not identify its state. */
    Limit called(String defaultName) {
        LimitSpec.checkName("limit", defaultName);
        return of(spec, defaultName);
    }

    /** How many permits it grants in a period, or in all; how many denials a {@link Penalty} takes. */
    public long permits() {
        return permits;
    }

    /** The time after which what was taken counts no more, or by which as many have refilled; of a stock and of calls in flight, a hold's. */
    public Duration period() {
        return Duration.of(spec.periodMicros(), ChronoUnit.MICROS);
    }

    /**
     * The highest cost that can ever be granted at once: the burst of a bucket, the share of one member of a stock, else the
     * permits. Any number for a penalty, which takes nothing.
     */
    public long capacity() {
        return spec.capacity();
    }

    /** The name of its kind in configuration text, such as {@code sliding-list}. */
    public String kind() {
        return spec.algorithm().text();
    }

    /** What the backends count. For this library. */
    public LimitSpec spec() {
        return spec;
    }

    /** Whether it caps calls in flight. */
    boolean isInFlight() {
        return this instanceof ConcurrentLimit;
    }

    /** The name that the policy gave. */
    String givenName() {
        return Objects.requireNonNull(name, "a limit of a policy has a name");
    }

    /** This limit divided among that number of instances, at least 1 permit (0 stays 0), for {@link FailureMode#LOCAL}. */
    Limit share(long instances) {
        return of(spec.share(instances), name);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other
                || other instanceof Limit that && Objects.equals(name, that.name) && spec.equals(that.spec);
    }

    @Override
    public int hashCode() {
        return spec.hashCode() * 31 + Objects.hashCode(name);
    }

    /** The limit as configuration text: {@code 3/10s sliding-list}. */
    @Override
    public String toString() {
        return spec + (name == null ? "" : " name " + name);
    }
}
