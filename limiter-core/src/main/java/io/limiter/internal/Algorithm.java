package io.limiter.internal;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * How a limit is counted: what one algorithm requires of a limit, and its properties that do not depend on
 * state. Each algorithm is implemented twice: as a Lua script that Redis runs (found by its name) and as a state class
 * of this JVM.
 * {@code docs/algorithms} shows each of them as a timeline.
 */
public enum Algorithm {
    /**
     * A counter that starts with the first admitted call and ends one period later, or at calendar time
     * (aligned). Smallest and cheapest; a caller can get up to twice the limit across a window's edge.
     */
    FIXED_WINDOW("fixed") {
        /** Windows of the calendar differ in length. */
        @Override
        public long windowSeconds(LimitSpec limit) {
            return limit.terms() == null ? super.windowSeconds(limit) : 0;
        }
    },

    /**
     * An exact log of admitted permits over the last period, kept as a list. Never more than the limit in any period,
     * wherever it starts. At most {@value LimitSpec#MAX_LOG_PERMITS} permits.
     */
    SLIDING_LIST("sliding-list", Trait.LOG),

    /**
     * The same exact log, kept as a sorted set with one member a permit: larger, but a call repeated with its request
     * id is charged once.
     */
    SLIDING_ZSET("sliding-zset", Trait.LOG, Trait.REQUEST_IDS),

    /** Permits refill continuously, up to a burst. The state is two numbers, whatever the limit is. */
    TOKEN_BUCKET("token-bucket", Trait.BURST) {
        @Override
        void check(long permits, long periodMicros, long burst) {
            if (permits == 0 ? burst != 0 : burst < 1 || burst > LimitSpec.MAX_PERMITS) {
                throw new IllegalArgumentException("a burst of " + burst + " with " + permits + " permits: "
                        + (permits == 0
                                ? "a bucket that never refills denies all, leave the burst out"
                                : "a bucket holds from 1 to " + LimitSpec.MAX_PERMITS));
            }
            if (permits == 0) {
                return;
            }
            long parts = periodMicros / LimitSpec.gcd(permits, periodMicros);
            if (Math.multiplyHigh(burst, parts) != 0 || burst * parts < 0 || burst * parts > MAX_EXACT) {
                throw new IllegalArgumentException("a bucket of " + burst + " at " + permits + " per " + periodMicros
                        + " us can't be counted exactly (" + burst + " x " + parts
                        + " is above 2^52); use a smaller burst, or permits and a period with a larger common divisor");
            }
        }

        /** A share of the burst, and as many permits in a period that is as much longer: so the refill stays exact. */
        @Override
        LimitSpec share(LimitSpec limit, long instances) {
            long period = limit.periodMicros();
            long burst = Math.max(1, limit.burst() / instances);
            if (Math.multiplyHigh(period, instances) == 0 && period * instances <= LimitSpec.MAX_PERIOD_MICROS) {
                return limit.with(limit.permits(), period * instances, burst);
            }
            // The period would be too long. Fewer permits then, and no larger burst than can be counted exactly.
            long share = Math.max(1, limit.permits() / instances);
            long parts = period / LimitSpec.gcd(share, period);
            return limit.with(share, period, Math.min(burst, MAX_EXACT / parts));
        }

        /** The time in which an empty bucket refills, so that quota by window is its long-term rate. */
        @Override
        public long windowSeconds(LimitSpec limit) {
            if (limit.permits() == 0) {
                return 0;
            }
            long divisor = limit.refillDivisor();
            long parts = limit.burst() * (limit.periodMicros() / divisor);
            long micros = -Math.floorDiv(-parts, limit.permits() / divisor);
            return micros < MICROS_PER_SECOND ? 0 : -Math.floorDiv(-micros, MICROS_PER_SECOND);
        }
    },

    /**
     * A cap on different members in a window that starts with the first one and ends one period
     * later. A member that is known costs nothing; a new one costs one permit. At most {@value LimitSpec#MAX_LOG_PERMITS}.
     */
    DISTINCT("distinct", Trait.LOG, Trait.MEMBERS),

    /**
     * Not a quota: blocks a key that the other limits of its policy deny repeatedly. When the number of denials within
     * the period reaches the permits, the key is blocked, for longer each time ({@link BlockTerms}). Allowed calls
     * change nothing. A policy has at most one.
     */
    BLOCK("block", Trait.REQUEST_IDS, Trait.PENALTY) {
        @Override
        void check(long permits, long periodMicros, long burst) {
            super.check(permits, periodMicros, burst);
            if (permits == 0) {
                throw new IllegalArgumentException(
                        "a block after 0 denials; write at least 1, or a limit of 0 permits");
            }
        }

        /** Not divided: a share of the limits denies the same caller as often as the whole ones. */
        @Override
        LimitSpec share(LimitSpec limit, long instances) {
            return limit;
        }
    },

    /**
     * A stock that members draw from: a number in all, at most the burst for each member,
     * between two times ({@link AllotmentTerms}; without them always). Nothing refills, except that holds end if they
     * are not confirmed within the period; a period of {@link LimitSpec#MAX_PERIOD_MICROS} is no hold. At most
     * {@value LimitSpec#MAX_LOG_PERMITS} permits. A call repeated with its request id gets the same answer.
     */
    ALLOTMENT("allotment", Trait.REQUEST_IDS, Trait.MEMBERS, Trait.STOCK) {
        /** The same for each hold: a stock is not full again because a hold lasts longer. */
        @Override
        String identity(long periodMicros) {
            return "stock";
        }

        @Override
        void check(long permits, long periodMicros, long burst) {
            if (permits > LimitSpec.MAX_LOG_PERMITS || burst > permits || burst < Math.min(permits, 1)) {
                throw new IllegalArgumentException("an allotment of " + permits + " with " + burst
                        + " for each member; it has at most " + LimitSpec.MAX_LOG_PERMITS
                        + ", and from 1 to all of them for each");
            }
        }

        @Override
        LimitSpec share(LimitSpec limit, long instances) {
            throw new IllegalStateException("instances can't sell parts of one stock: " + limit);
        }
    },

    /**
     * A cap on calls in flight: permits are held from admission to the end of the call. The period is how long the permits of
     * a JVM that died are kept.
     */
    CONCURRENT("concurrent") {
        /** The same for each hold: other calls are not in flight because a hold lasts longer. */
        @Override
        String identity(long periodMicros) {
            return "calls";
        }

        @Override
        void check(long permits, long periodMicros, long burst) {
            super.check(permits, periodMicros, burst);
            if (periodMicros < LimitSpec.SHORTEST_HOLD_MICROS || periodMicros > LimitSpec.LONGEST_HOLD_MICROS) {
                throw new IllegalArgumentException("a hold of " + LimitSpec.text(periodMicros)
                        + " for calls in flight is outside 1s to 1h; write for how long the permits of an instance that"
                        + " died are kept, such as 30s");
            }
        }
    };

    private static final long MAX_EXACT = 1L << 52;
    private static final long MICROS_PER_SECOND = 1_000_000;

    private final String text;
    private final List<Trait> traits;

    Algorithm(String text, Trait... traits) {
        this.text = text;
        this.traits = List.of(traits);
    }

    /** What distinguishes an algorithm from one that counts calls in a fixed number of numbers. */
    private enum Trait {
        /** The state has one entry a permit. */
        LOG,
        REQUEST_IDS,
        BURST,
        MEMBERS,
        /** It denies what other limits have denied, and grants nothing. */
        PENALTY,
        /** Nothing refills. */
        STOCK
    }

    /** The algorithm's name in configuration text and in keys, such as {@code sliding-list}. */
    public String text() {
        return text;
    }

    /** Whether a limit can hold another number of permits than it grants per period. */
    public boolean hasBurst() {
        return traits.contains(Trait.BURST);
    }

    /** Whether a call that is repeated with its request id is charged once. */
    public boolean takesRequestIds() {
        return traits.contains(Trait.REQUEST_IDS);
    }

    /** Whether it grants permits. A {@link #BLOCK} does not: clients can't use it up. */
    public boolean isQuota() {
        return !traits.contains(Trait.PENALTY);
    }

    /** Whether it counts members rather than calls. */
    public boolean takesMembers() {
        return traits.contains(Trait.MEMBERS);
    }

    /**
     * Whether equal plain charges of one key can be decided in one step: the first ones are granted, in order of arrival. Each
     * denial counts for a block, and members differ.
     */
    public boolean isCombinable() {
        return isQuota() && !takesMembers();
    }

    /** Whether permits can be held: taken, and settled later. */
    public boolean takesHolds() {
        // A log would be searched for each timestamp that comes back.
        return this == FIXED_WINDOW || this == TOKEN_BUCKET;
    }

    /** Whether permits are held until the call ends, so that nobody knows when a denied one is allowed. */
    public boolean isInFlight() {
        return this == CONCURRENT;
    }

    /** Whether the state has one entry a permit, so that memory grows with the permits used. */
    public boolean isLog() {
        return traits.contains(Trait.LOG);
    }

    /**
     * Whether a denial proves that each later call of the same or a higher cost is denied too until its {@code retryAfter}
     * has passed, except a call that is repeated with its request id. A member that is known is allowed while new ones are
     * denied.
     */
    public boolean isDenialLasting() {
        return !takesMembers();
    }

    /** Whether instances can each decide by a share of a limit while Redis is unreachable. */
    public boolean isShareable() {
        return !traits.contains(Trait.STOCK);
    }

    /** What identifies the state of a limit without a name. */
    String identity(long periodMicros) {
        return Long.toString(periodMicros);
    }

    /**
     * The window of a limit for the response fields: whole seconds in which all of its quota is available again; 0 if
     * no whole number of seconds is correct, or nothing refills.
     */
    public long windowSeconds(LimitSpec limit) {
        long micros = limit.periodMicros();
        // Rounded down it would promise too much (and 0 is no window), rounded up too little.
        boolean refills = isQuota() && !traits.contains(Trait.STOCK) && !isInFlight();
        return refills && micros % MICROS_PER_SECOND == 0 ? micros / MICROS_PER_SECOND : 0;
    }

    /** Refuses what is out of its range for this algorithm or could not be counted exactly. */
    void check(long permits, long periodMicros, long burst) {
        if ((isLog() || isInFlight()) && permits > LimitSpec.MAX_LOG_PERMITS) {
            throw new IllegalArgumentException(text + " keeps one entry a permit and takes at most "
                    + LimitSpec.MAX_LOG_PERMITS + " permits, not " + permits
                    + (isLog() && !takesMembers() ? "; use token-bucket" : ""));
        }
        if (burst != permits) {
            throw new IllegalArgumentException("a burst of " + burst + " on " + text
                    + ": only token-bucket has a burst; leave it out, or use token-bucket");
        }
    }

    /** A limit of at least 1 permit divided among this number of instances, for the failure mode local; at least 1 permit. */
    LimitSpec share(LimitSpec limit, long instances) {
        long share = Math.max(1, limit.permits() / instances);
        return limit.with(share, limit.periodMicros(), share);
    }

    /**
     * The algorithm of that name, ignoring case.
     *
     * @throws IllegalArgumentException if there is none; the message lists the names
     */
    public static Algorithm ofText(String text) {
        String wanted = text.toLowerCase(Locale.ROOT);
        for (Algorithm algorithm : values()) {
            if (algorithm.text.equals(wanted)) {
                return algorithm;
            }
        }
        throw new IllegalArgumentException(
                "'" + text + "' is not an algorithm (nor burst B, aligned ZONE or name X); write one of "
                        + Arrays.stream(values())
                                .filter(Algorithm::isQuota)
                                .map(Algorithm::text)
                                .collect(Collectors.joining(", ")));
    }
}
