package io.limiter.redis;

/**
 * How many calls to a master may be in flight: as many as get their answer in good time, found by trying. One more for each
 * round of quick answers, half as many when an answer is late (the rule of TCP's congestion avoidance, RFC 5681, on
 * latency). So when calls are slow, because they are big or the network is narrow, they wait here, where who waits too long
 * can leave, and not at Redis. Not thread-safe.
 */
final class Window {
    /** At some 20 us a script Redis serves these in 5 ms; at a round trip of 1 ms they are 250 000 calls a second. */
    static final int MOST = 256;

    static final int LEAST = 2;
    private static final int FIRST = 64;

    private double size = FIRST;
    private long nextShrinkMicros = Long.MIN_VALUE;

    int size() {
        return (int) size;
    }

    /** Forgets what it learned from a master that did not answer at all. */
    void reset() {
        size = FIRST;
    }

    /** Whether it can't get smaller: then a late answer is not for too many calls in flight. */
    boolean isSmallest() {
        return size <= LEAST;
    }

    /**
     * An answer came.
     *
     * @param tookMicros since it was sent
     * @param longestMicros how long the caller would have waited
     * @param full whether more wanted to be in flight
     */
    void answered(long nowMicros, long tookMicros, long longestMicros, boolean full) {
        if (tookMicros > longestMicros / 2) {
            late(nowMicros, longestMicros);
        } else if (full && tookMicros <= longestMicros / 4) {
            size = Math.min(MOST, size + 1 / size);
        }
    }

    /** No answer came in time. Halves it, once in the time of a deadline: one delay makes many calls late. */
    void late(long nowMicros, long longestMicros) {
        if (nowMicros >= nextShrinkMicros) {
            nextShrinkMicros = nowMicros + longestMicros;
            size = Math.max(LEAST, size / 2);
        }
    }
}
