package io.limiter.config;

import io.limiter.RateLimiter;

/**
 * The bounds of the state in this JVM.
 *
 * @param maxEntries how many states are kept
 * @param maxStamps total number of timestamps that all sliding logs may hold
 * @param maxWaiting how many calls may wait, also with Redis; a tenth of them, at least one, for one key
 */
public record InProcessSettings(int maxEntries, long maxStamps, int maxWaiting) {
    /** The defaults. */
    public static final InProcessSettings DEFAULT =
            new InProcessSettings(100_000, 10_000_000, RateLimiter.Builder.DEFAULT_MAX_WAITING);

    /**
     * Checks the bounds.
     *
     * @throws ConfigException if one is below 1 or above its maximum
     */
    public InProcessSettings {
        Problems problems = new Problems();
        problems.range("limiter.in-process.max-entries", maxEntries, 1, 1 << 30);
        problems.range("limiter.in-process.max-stamps", maxStamps, 1, 1L << 40);
        problems.range("limiter.wait.max-waiting", maxWaiting, 1, 1_000_000);
        problems.throwIfAny();
    }
}
