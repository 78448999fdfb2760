package io.limiter.redis;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * What is on its way to one master, and how much of it may be: as many calls as get their answer in time, found by
 * trying. One more for each round of answers that did not queue, half as many when they did or were late (the rule of
 * TCP's congestion avoidance, RFC 5681, on latency above that of the network, as in TCP Vegas). So when calls are slow,
 * because they are big or the network is narrow, they wait here, where they can time out, and not at Redis. A long
 * network distance does not reduce the window.
 *
 * <p>The calls share few flights, so that those that arrive in the meantime are grouped into the next one. Each flight
 * is a command, or in a cluster one for each slot.
 *
 * <p>Thread-safe. Places are counted without a lock; the lock is for what answers teach, which senders read from the
 * volatile fields.
 */
final class CongestionWindow {
    /** At some 20 us a script Redis serves these in 5 ms; at a round trip of 1 ms they are 250 000 calls a second. */
    static final int MOST = 256;

    static final int LEAST = 2;
    private static final int FIRST = 64;

    /** The useful number: with more, sending calls separately costs more than the shorter wait gains. */
    static final int MOST_FLIGHTS = 8;

    private static final int LEAST_FLIGHTS = 2;
    /** How long a call may wait for the next flight while one is in flight for longer than Redis works. */
    private static final long BETWEEN_FLIGHTS_MICROS = 250;
    /** How long the quickest answer is remembered as the network latency: once or twice this. */
    private static final long REMEMBERED_MICROS = 10_000_000;

    private final long deadlineMicros;
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicReferenceArray<@Nullable Flight> flights = new AtomicReferenceArray<>(MOST_FLIGHTS);
    private volatile double size = FIRST;
    /** One arrives while another is on its way, and more on a slow network. */
    private volatile int usefulFlights = LEAST_FLIGHTS;

    private long nextShrinkMicros = Long.MIN_VALUE;
    private long quickestMicros = Long.MAX_VALUE;
    private long quickestBeforeMicros = Long.MAX_VALUE;
    private long nextForgetMicros = Long.MIN_VALUE;

    /** @param deadlineMicros within which a healthy master answers; after it a flight delays no others */
    CongestionWindow(long deadlineMicros) {
        this.deadlineMicros = deadlineMicros;
    }

    int size() {
        return (int) size;
    }

    boolean isEmpty() {
        return calls.get() == 0;
    }

    boolean isFull() {
        return calls.get() >= size();
    }

    /** Whether it can't get smaller: then a late answer is not caused by too many calls in flight. */
    boolean isSmallest() {
        return size <= LEAST;
    }

    /** Takes the place of a call, if there is one. For a moment it may seem full without being so. */
    boolean tryTakePlace() {
        if (calls.incrementAndGet() <= size()) {
            return true;
        }
        freePlace();
        return false;
    }

    /** A call that had a place has ended, or is not sent. */
    void freePlace() {
        calls.decrementAndGet();
    }

    /** Begins a flight, unless the maximum are on their way. */
    @Nullable
    Flight tryBegin(long nowMicros) {
        for (int i = 0; i < usefulFlights; i++) {
            Flight before = flights.get(i);
            if (before == null || nowMicros - before.sinceMicros > deadlineMicros) {
                Flight flight = new Flight(i, nowMicros);
                if (flights.compareAndSet(i, before, flight)) {
                    return flight;
                }
            }
        }
        return null;
    }

    /** Forgets what it learned from a master that did not answer at all. */
    synchronized void reset() {
        size = FIRST;
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
        usefulFlights = (int) Math.max(LEAST_FLIGHTS, Math.min(MOST_FLIGHTS, wayMicros / BETWEEN_FLIGHTS_MICROS));
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

    /** Commands that are on their way together. */
    final class Flight {
        private final int place;
        private final long sinceMicros;
        private final AtomicInteger commands = new AtomicInteger();
        private final AtomicBoolean silent = new AtomicBoolean();

        private Flight(int place, long nowMicros) {
            this.place = place;
            this.sinceMicros = nowMicros;
        }

        /** Adds commands to the flight. Called before they are sent. */
        void add(int more) {
            commands.addAndGet(more);
        }

        /** One of its commands has its reply, or will not get one. */
        void land() {
            if (commands.decrementAndGet() == 0) {
                end();
            }
        }

        /** It has no answer in time: one that is lost is lost for all its calls. Returns true for the first of them. */
        boolean claimSilence() {
            return !silent.getAndSet(true);
        }

        /** It no longer delays others. */
        void end() {
            flights.compareAndSet(place, this, null);
        }
    }
}
