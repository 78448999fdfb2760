package io.limiter.redis;

/**
 * How many calls to a master may be in flight: as many as get their answer in time, found by trying. One more for each
 * round of answers that did not queue, half as many when they did or were late (the rule of TCP's congestion avoidance,
 * RFC 5681, on latency above that of the network, as in TCP Vegas). So when calls are slow, because they are big or the
 * network is narrow, they wait here, where they can time out, and not at Redis. A long network distance does not reduce
 * the window. Thread-safe.
 */
final class Window {
    /** At some 20 us a script Redis serves these in 5 ms; at a round trip of 1 ms they are 250 000 calls a second. */
    static final int MOST = 256;

    static final int LEAST = 2;
    private static final int FIRST = 64;
    /** How long the quickest answer is remembered as the network latency: once or twice this. */
    private static final long REMEMBERED_MICROS = 10_000_000;

    private final long deadlineMicros;
    /** How long a call may wait for the next flight while one is in flight for longer than Redis works. */
    private static final long BETWEEN_FLIGHTS_MICROS = 250;

    private static final int LEAST_FLIGHTS = 2;

    private volatile double size = FIRST;
    private volatile int flights = LEAST_FLIGHTS;
    private long nextShrinkMicros = Long.MIN_VALUE;
    private long quickestMicros = Long.MAX_VALUE;
    private long quickestBeforeMicros = Long.MAX_VALUE;
    private long nextForgetMicros = Long.MIN_VALUE;

    /**
     * A window.
     *
     * @param deadlineMicros within which a healthy master answers
     */
    Window(long deadlineMicros) {
        this.deadlineMicros = deadlineMicros;
    }

    int size() {
        return (int) size;
    }

    /** The number of concurrent flights: one arrives while another is on its way, and more on a slow network. */
    int flights() {
        return flights;
    }

    /** Forgets what it learned from a master that did not answer at all. */
    synchronized void reset() {
        size = FIRST;
    }

    /** Whether it can't get smaller: then a late answer is not caused by too many calls in flight. */
    boolean isSmallest() {
        return size <= LEAST;
    }

    /**
     * An answer came.
     *
     * @param tookMicros since it was sent
     * @param full whether more calls were ready to be in flight
     */
    synchronized void answered(long nowMicros, long tookMicros, boolean full) {
        if (nowMicros >= nextForgetMicros) {
            nextForgetMicros = nowMicros + REMEMBERED_MICROS;
            quickestBeforeMicros = quickestMicros;
            quickestMicros = Long.MAX_VALUE;
        }
        quickestMicros = Math.min(quickestMicros, tookMicros);
        long wayMicros = Math.min(quickestMicros, quickestBeforeMicros);
        flights = (int) Math.max(LEAST_FLIGHTS, Math.min(Flights.MOST, wayMicros / BETWEEN_FLIGHTS_MICROS));
        long queuedMicros = tookMicros - wayMicros;
        if (queuedMicros > deadlineMicros / 2) {
            late(nowMicros);
        } else if (full && queuedMicros <= deadlineMicros / 4) {
            size = Math.min(MOST, size + 1 / size);
        }
    }

    /** No answer came in time. Halves it, once in the time of a deadline: one delay makes many calls late. */
    synchronized void late(long nowMicros) {
        if (nowMicros >= nextShrinkMicros) {
            nextShrinkMicros = nowMicros + deadlineMicros;
            size = Math.max(LEAST, size / 2);
        }
    }
}
