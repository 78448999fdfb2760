package io.limiter.benchmark;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Times and answers of one window. Each thread writes into a part of its own, so counting costs the callers no lock; they
 * are read when the window is over.
 */
public final class Samples {
    /** How many different answers are counted. They are made of flags. */
    public static final int ANSWERS = 8;

    /** Each power of two of nanoseconds in 32 steps: times are known to 3 %. */
    private static final int STEP_BITS = 5;

    private static final int BUCKETS = (64 - STEP_BITS) << STEP_BITS;

    private static final class Part {
        private final long[] times = new long[BUCKETS];
        private final long[] answers = new long[ANSWERS];
    }

    private final Queue<Part> parts = new ConcurrentLinkedQueue<>();
    private final ThreadLocal<Part> ofThread = ThreadLocal.withInitial(() -> {
        Part part = new Part();
        parts.add(part);
        return part;
    });

    /** Counts a call that took this long. */
    public void add(long nanos, int answer) {
        Part part = ofThread.get();
        part.times[bucket(Math.max(0, nanos))]++;
        part.answers[answer]++;
    }

    /** How many calls there were. */
    public long count() {
        return count(0);
    }

    /** How many answers have these flags. */
    public long count(int flags) {
        long count = 0;
        for (Part part : parts) {
            for (int answer = 0; answer < part.answers.length; answer++) {
                count += (answer & flags) == flags ? part.answers[answer] : 0;
            }
        }
        return count;
    }

    /** The time, in microseconds, that this share of the calls stayed within. */
    public double micros(double share) {
        long left = (long) Math.ceil(count() * share);
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            for (Part part : parts) {
                left -= part.times[bucket];
            }
            if (left <= 0) {
                return middle(bucket) / 1_000;
            }
        }
        return Double.NaN;
    }

    private static int bucket(long nanos) {
        int shift = Math.max(0, 63 - Long.numberOfLeadingZeros(nanos | 1) - STEP_BITS);
        return (shift << STEP_BITS) + (int) (nanos >>> shift);
    }

    private static double middle(int bucket) {
        int shift = Math.max(0, (bucket >>> STEP_BITS) - 1);
        long from = (long) (bucket - (shift << STEP_BITS)) << shift;
        return from + (1L << shift) / 2.0;
    }
}
