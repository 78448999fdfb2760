package io.limiter.benchmark;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Sequences of keys. They are drawn in advance from a fixed seed: no cost in the measured call, and the same in each run. */
public final class Draw {
    private static final int DRAWS = 1 << 19;

    private Draw() {}

    /** Each of the keys as often as any other. */
    public static int[] uniform(int keys) {
        return new SplittableRandom(1).ints(DRAWS, 0, keys).toArray();
    }

    /** The i-th key in proportion to 1/i. */
    public static int[] zipf(int keys) {
        double[] upTo = new double[keys];
        double sum = 0;
        for (int i = 0; i < keys; i++) {
            sum += 1.0 / (i + 1);
            upTo[i] = sum;
        }
        double all = sum;
        return new SplittableRandom(1)
                .doubles(DRAWS)
                .mapToInt(draw -> {
                    int at = Arrays.binarySearch(upTo, draw * all);
                    return Math.min(keys - 1, at < 0 ? -at - 1 : at);
                })
                .toArray();
    }

    /** Of 100 calls 99 ask for one of the first {@code abusers} keys, and one for any of the others. */
    public static int[] attack(int abusers, int keys) {
        SplittableRandom random = new SplittableRandom(1);
        return random.ints(DRAWS, 0, 100)
                .map(draw -> draw < 99 ? random.nextInt(abusers) : random.nextInt(abusers, keys))
                .toArray();
    }
}
