package io.limiter.config;

/**
 * The bounds of the state in this JVM.
 *
 * @param maxEntries how many states are kept
 * @param maxStamps for how many stamps all sliding logs have room
 */
public record InProcessSettings(int maxEntries, long maxStamps) {
    /** What holds where nothing is written. */
    public static final InProcessSettings DEFAULT = new InProcessSettings(100_000, 10_000_000);

    /**
     * Checks the bounds.
     *
     * @throws ConfigException if one is below 1 or beyond all bounds
     */
    public InProcessSettings {
        Problems problems = new Problems();
        problems.range("limiter.in-process.max-entries", maxEntries, 1, 1 << 30);
        problems.range("limiter.in-process.max-stamps", maxStamps, 1, 1L << 40);
        problems.throwIfAny();
    }
}
