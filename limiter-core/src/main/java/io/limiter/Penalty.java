package io.limiter;

import io.limiter.internal.Algorithm;
import java.time.Duration;

/**
 * No quota: blocks a key that the limits of its policy deny repeatedly. When the number of denials within the period is
 * reached, the key is blocked, each time twice as long as the time before, up to the longest; a key that was not blocked for
 * as long as the longest block lasts begins with the first length again. Allowed calls change nothing. A policy has at most
 * one, and counts it after its limits: {@link Policy#penalty}.
 */
public final class Penalty extends Limit {
    private final long firstMicros;
    private final long longestMicros;

    private Penalty(Head head, long firstMicros, long longestMicros) {
        super(
                head,
                head.algorithm().text(),
                " for " + text(firstMicros) + " up to " + text(longestMicros),
                "for=" + firstMicros + ",to=" + longestMicros);
        this.firstMicros = firstMicros;
        this.longestMicros = longestMicros;
        refuseIf(permits() == 0, "a block after 0 denials; write at least 1, or a limit of 0 permits");
        refuseIf(
                firstMicros < 1 || longestMicros < firstMicros || longestMicros > MAX_PERIOD_MICROS,
                "a block for " + text(firstMicros) + " up to " + text(longestMicros)
                        + "; write a longest block of at least the first one and at most 71 years, such as"
                        + " 'for 15m up to 24h'");
    }

    static Penalty of(long denials, Duration period, Duration first, Duration longest) {
        Head head = new Head(Algorithm.BLOCK, denials, micros(period), denials, Algorithm.BLOCK.text(), null);
        return new Penalty(head, micros(first), micros(longest));
    }

    @Override
    Penalty with(Head other) {
        return new Penalty(other, firstMicros, longestMicros);
    }

    /** How long the first block lasts, in microseconds. */
    public long firstMicros() {
        return firstMicros;
    }

    /** The longest that a block lasts, in microseconds. */
    public long longestMicros() {
        return longestMicros;
    }

    /** Not divided: a share of the limits denies the same caller as often as the whole ones. */
    @Override
    Limit share(long instances) {
        return this;
    }
}
