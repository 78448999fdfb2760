package io.limiter;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * How a {@link Limit} is kept. Each algorithm has one meaning, written twice: as a Lua script that Redis runs and as a
 * state class of this JVM. {@code docs/algorithms.md} shows each of them as a timeline.
 */
public enum Algorithm {
    /**
     * A counter that starts with the first admitted call and ends one period later. Smallest and cheapest; a caller can
     * get up to twice the limit across a window's edge.
     */
    FIXED_WINDOW("fixed", false),

    /**
     * An exact log of admitted permits over the last period, kept as a list. Never more than the limit in any period,
     * wherever it starts. At most {@value Limit#MAX_LOG_PERMITS} permits.
     */
    SLIDING_LIST("sliding-list", true),

    /**
     * The same exact log, kept as a sorted set with one member a permit: larger, but a call asked again with its request
     * id is charged once.
     */
    SLIDING_ZSET("sliding-zset", true),

    /** Permits refill continuously, up to a burst. Two numbers of state whatever the limit is. */
    TOKEN_BUCKET("token-bucket", false);

    private final String text;
    private final boolean log;

    Algorithm(String text, boolean log) {
        this.text = text;
        this.log = log;
    }

    /** The algorithm's name in configuration text and in keys, such as {@code sliding-list}. */
    public String text() {
        return text;
    }

    /** Whether the state is an exact log, so that memory grows with the permits used. */
    public boolean isLog() {
        return log;
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
        throw new IllegalArgumentException("'" + text + "' is no algorithm; write one of "
                + Arrays.stream(values()).map(Algorithm::text).collect(Collectors.joining(", ")));
    }
}
