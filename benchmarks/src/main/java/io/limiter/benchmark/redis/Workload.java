package io.limiter.benchmark.redis;

import io.limiter.benchmark.Draw;
import java.util.function.Supplier;

/**
 * The keys of calls, and the limit of each.
 *
 * @param permits the permits in each period
 * @param periodMicros how long a period is
 * @param draw makes the keys in their order, which is repeated; a power of two of them
 * @param sampledFrom the first key whose calls are measured
 */
public record Workload(long permits, long periodMicros, Supplier<int[]> draw, int sampledFrom) {
    private static final int KEYS = 100_000;
    private static final int ABUSERS = 100;
    private static final long SECOND = 1_000_000;
    /** For a log that is full under load: 5 000 permits a second become free. */
    private static final long MICROS_A_PERMIT = 200;

    private Workload(long permits, long periodMicros, Supplier<int[]> draw) {
        this(permits, periodMicros, draw, 0);
    }

    /**
     * The workload of that name.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Workload of(String name) {
        return switch (name) {
            // Nearly all calls are allowed.
            case "keys" -> new Workload(1_000, 60 * SECOND, () -> Draw.uniform(KEYS));
            case "zipf" -> new Workload(1_000, 60 * SECOND, () -> Draw.zipf(KEYS));
            // One key, used up at once.
            case "denied" -> one(10, 86_400 * SECOND);
            // One key with more permits than calls: a million a second.
            case "allowed" -> one(10_000, 10_000);
            // Of 100 calls 99 are for 100 keys with 10 permits a second, one is for one of 100 000 others.
            case "attack" -> new Workload(10, SECOND, Workload::attack);
            // The same, measuring only that one: the effect of an attack on others.
            case "attacked" -> new Workload(10, SECOND, Workload::attack, ABUSERS);
            case "log-10" -> one(10, 10 * MICROS_A_PERMIT);
            case "log-1000" -> one(1_000, 1_000 * MICROS_A_PERMIT);
            case "log-10000" -> one(10_000, 10_000 * MICROS_A_PERMIT);
            default -> throw new IllegalArgumentException("there is no workload " + name);
        };
    }

    private static int[] attack() {
        return Draw.attack(ABUSERS, KEYS + ABUSERS);
    }

    private static Workload one(long permits, long periodMicros) {
        return new Workload(permits, periodMicros, () -> new int[1]);
    }
}
