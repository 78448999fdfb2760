package io.limiter.internal;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * How a limit is counted. Each algorithm is implemented twice: as a Lua script that Redis runs (found by its name) and as a
 * state class of this JVM. {@code Limit.Terms} checks which numbers and words a limit of it can have. {@code docs/algorithms}
 * shows each algorithm as a timeline.
 */
public enum Algorithm {
    /** A counter that starts with the first admitted call and ends one period later, or at calendar time. */
    FIXED_WINDOW("fixed"),
    /** An exact log of admitted permits over the last period, kept as a list. */
    SLIDING_LIST("sliding-list"),
    /** The same log as a sorted set with one member a permit: larger, but a call repeated with its request id is charged once. */
    SLIDING_ZSET("sliding-zset"),
    /** Permits refill continuously, up to a burst. The state is two numbers. */
    TOKEN_BUCKET("token-bucket"),
    /** A cap on different members in a window that starts with the first one. */
    DISTINCT("distinct"),
    /** Not a quota: blocks a key that the other limits of its policy deny repeatedly, for longer each time. */
    BLOCK("block"),
    /** A stock that members draw from, between two times. */
    ALLOTMENT("allotment"),
    /** A cap on calls in flight: permits are held from admission to the end of the call. */
    CONCURRENT("concurrent");

    private final String text;

    Algorithm(String text) {
        this.text = text;
    }

    /** The algorithm's name in configuration text and in keys, such as {@code sliding-list}. */
    public String text() {
        return text;
    }

    /** Whether a limit can hold another number of permits than it grants per period. */
    public boolean hasBurst() {
        return this == TOKEN_BUCKET;
    }

    /** Whether what was taken comes back with time. A block grants nothing. */
    public boolean refills() {
        return this != BLOCK && this != ALLOTMENT && this != CONCURRENT;
    }

    /** Whether a call that is repeated with its request id is charged once. */
    public boolean takesRequestIds() {
        return this == SLIDING_ZSET || this == BLOCK || this == ALLOTMENT;
    }

    /** Whether it grants permits. A {@link #BLOCK} does not: clients can't use it up. */
    public boolean isQuota() {
        return this != BLOCK;
    }

    /** Whether it counts members rather than calls. */
    public boolean takesMembers() {
        return this == DISTINCT || this == ALLOTMENT;
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
        return this == SLIDING_LIST || this == SLIDING_ZSET || this == DISTINCT;
    }

    /** Whether instances can each decide by a share of a limit while Redis is unreachable. */
    public boolean isShareable() {
        return this != ALLOTMENT;
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
