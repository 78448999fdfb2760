package io.limiter.internal;

/**
 * How long a {@link Algorithm#BLOCK} lasts. Each block is twice as long as the one before it, up to the longest; a key
 * that was not blocked for as long as the longest block lasts begins with the first length again. Immutable.
 *
 * @param firstMicros the first block, in microseconds, at least 1
 * @param longestMicros the longest block, at least the first and at most {@link LimitSpec#MAX_PERIOD_MICROS}
 */
public record BlockTerms(long firstMicros, long longestMicros) implements Terms {
    /**
     * Checks the lengths.
     *
     * @throws IllegalArgumentException if one is out of its range
     */
    public BlockTerms {
        if (firstMicros < 1 || longestMicros < firstMicros || longestMicros > LimitSpec.MAX_PERIOD_MICROS) {
            throw new IllegalArgumentException("a block for " + LimitSpec.text(firstMicros) + " up to "
                    + LimitSpec.text(longestMicros)
                    + "; write a longest block of at least the first one and at most 71 years,"
                    + " such as 'for 15m up to 24h'");
        }
    }

    @Override
    public String options(long unixMicros) {
        return "for=" + firstMicros + ",to=" + longestMicros;
    }

    @Override
    public String toString() {
        return "for " + LimitSpec.text(firstMicros) + " up to " + LimitSpec.text(longestMicros);
    }
}
