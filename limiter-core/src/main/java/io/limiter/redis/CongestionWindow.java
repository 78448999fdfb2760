package io.limiter.redis;

import io.limiter.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The calls that wait for one master, those that are on their way to it, and how many may be: as many calls as get their answer in time, found by
 * trying. One more for each round of answers that did not queue, half as many when they did or were late (the rule of
 * TCP's congestion avoidance, RFC 5681, on latency above that of the network, as in TCP Vegas). So when calls are slow,
 * because they are big or the network is narrow, they wait here: one that waits too long is never sent, and waiting
 * here (an overload) can be distinguished from waiting for Redis (an outage). A long network distance does not reduce the
 * window.
 *
 * <p>The calls share few flights, so that those that arrive in the meantime are grouped into the next one. Each flight
 * is a command, or in a cluster one for each slot. A flight is commands on their way to Redis; it has nothing to do with
 * {@link CallsInFlight}, the calls of the application that hold permits.
 *
 * <p>Thread-safe, as {@link MasterLink} describes. Places are counted without a lock; the lock is for what answers teach,
 * which senders read from the volatile fields.
 */
final class CongestionWindow {
    /** At some 20 us a script Redis serves these in 5 ms; at a round trip of 1 ms they are 250 000 calls a second. */
    static final int MOST = 256;

    static final int LEAST = 2;
    /** About as many calls as Redis serves within the default deadline; further calls would wait in vain. */
    static final int LONGEST_QUEUE = 2_048;

    private static final int FIRST = 64;
    /**
     * Up to so many calls to one of several masters, one flight at a time decides more: with 21 calls for each master 1.2
     * times as many as two flights; with 171 only 0.9 times.
     */
    private static final int FEW = 64;

    /** The useful number: with more, sending calls separately costs more than the shorter wait gains. */
    static final int MOST_FLIGHTS = 8;

    /** How long one command may occupy Redis. */
    private static final long MOST_WORK_MICROS = 500;
    /** How long a call may wait for the next flight while one is on its way for longer than Redis works. */
    private static final long BETWEEN_FLIGHTS_MICROS = 250;
    /** How long the quickest answer is remembered as the network latency: once or twice this. */
    private static final long REMEMBERED_MICROS = 10_000_000;

    private final long deadlineMicros;
    private final boolean hasOthers;
    private final Queue<Call> waiting = new ConcurrentLinkedQueue<>();
    private final AtomicInteger waitingCount = new AtomicInteger();
    /** How many calls have a place: those that are sent and have not ended. */
    private final AtomicInteger onTheirWay = new AtomicInteger();

    private final AtomicReferenceArray<@Nullable Flight> flights = new AtomicReferenceArray<>(MOST_FLIGHTS);
    private volatile double size = FIRST;
    /** How many a slow network needs. */
    private volatile int usefulFlights;

    private long nextShrinkMicros = Long.MIN_VALUE;
    private long quickestMicros = Long.MAX_VALUE;
    private long quickestBeforeMicros = Long.MAX_VALUE;
    private long nextForgetMicros = Long.MIN_VALUE;

    /**
     * A window.
     *
     * @param deadlineMicros within which a healthy master answers; after it a flight delays no others
     * @param hasOthers whether there are other masters to ask while this one has a command
     */
    CongestionWindow(long deadlineMicros, boolean hasOthers) {
        this.deadlineMicros = deadlineMicros;
        this.hasOthers = hasOthers;
    }

    int size() {
        return (int) size;
    }

    /** Whether no call waits or is on its way. */
    boolean isEmpty() {
        return onTheirWay.get() == 0 && waitingCount.get() == 0;
    }

    /** How many calls wait. */
    int waiting() {
        return waitingCount.get();
    }

    boolean hasWaiting() {
        return !waiting.isEmpty();
    }

    void addWaiting(Call call) {
        waitingCount.incrementAndGet();
        waiting.add(call);
    }

    /** Removes a call that waits. Returns false if it does not. */
    boolean tryRemoveWaiting(Call call) {
        // Calls leave roughly in order, so it is near the front.
        boolean removed = waiting.remove(call);
        if (removed) {
            waitingCount.decrementAndGet();
        }
        return removed;
    }

    /** Takes the next call that waits. */
    @Nullable
    Call poll() {
        Call next = waiting.poll();
        if (next != null) {
            waitingCount.decrementAndGet();
        }
        return next;
    }

    /**
     * A flight with the next calls that wait; null if none can leave now. A call of which half the time is over is not sent:
     * its answer would come too late, and so would all answers after it. The flight is empty if none is left.
     *
     * @param expired gets the calls that ended instead of being sent
     */
    @Nullable
    Flight tryLoad(TimeSource time, List<Call> expired) {
        Flight flight = hasWaiting() && onTheirWay.get() < size() ? tryBegin(time.nowMicros()) : null;
        if (flight == null) {
            return null;
        }
        long workMicros = 0;
        for (Call next = waiting.peek(); next != null; next = waiting.peek()) {
            long work = Command.workMicros(next, flight.calls);
            boolean fits = flight.calls.isEmpty() || workMicros + work <= MOST_WORK_MICROS;
            if (!fits || !tryTakePlace()) {
                break;
            }
            long nowMicros = time.nowMicros();
            boolean isLate = next.isHalfOver(nowMicros);
            boolean isNext = tryRemoveWaiting(next);
            if (isNext && !isLate && flight.tryLoad(next, nowMicros)) {
                workMicros += work;
            } else {
                freePlace();
            }
            if (isNext && isLate && next.tryEnd(Call.State.WAITING)) {
                expired.add(next);
            }
        }
        return flight;
    }

    /** Whether it can't get smaller: then a late answer is not caused by too many calls on their way. */
    boolean isSmallest() {
        return size <= LEAST;
    }

    /** Takes the place of a call, if there is one. For a moment it may seem full without being so. */
    private boolean tryTakePlace() {
        if (onTheirWay.incrementAndGet() <= size()) {
            return true;
        }
        freePlace();
        return false;
    }

    /** A call that had a place has ended, or is not sent. */
    void freePlace() {
        onTheirWay.decrementAndGet();
    }

    /** Begins a flight, unless the maximum are on their way. */
    @Nullable
    Flight tryBegin(long nowMicros) {
        // One arrives while another is on its way; where other masters keep this JVM busy meanwhile, larger ones cost
        // less.
        int least = hasOthers && onTheirWay.get() + waitingCount.get() <= FEW ? 1 : 2;
        int most = Math.max(least, usefulFlights);
        for (int i = 0; i < most; i++) {
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
     * @param full whether more calls waited to be sent
     */
    synchronized void answered(long nowMicros, long tookMicros, boolean full) {
        if (nowMicros >= nextForgetMicros) {
            nextForgetMicros = nowMicros + REMEMBERED_MICROS;
            quickestBeforeMicros = quickestMicros;
            quickestMicros = Long.MAX_VALUE;
        }
        quickestMicros = Math.min(quickestMicros, tookMicros);
        long wayMicros = Math.min(quickestMicros, quickestBeforeMicros);
        usefulFlights = (int) Math.min(MOST_FLIGHTS, wayMicros / BETWEEN_FLIGHTS_MICROS);
        long queuedMicros = tookMicros - wayMicros;
        if (queuedMicros > deadlineMicros / 2) {
            late(nowMicros);
        } else if (full && queuedMicros <= deadlineMicros / 4) {
            size = Math.min(MOST, size + 1 / size);
        }
    }

    /**
     * An answer has queued for long, or did not come in time. Halves the window, once in the time of a deadline: one delay
     * makes many calls late.
     */
    synchronized void late(long nowMicros) {
        if (nowMicros >= nextShrinkMicros) {
            nextShrinkMicros = nowMicros + deadlineMicros;
            size = Math.max(LEAST, size / 2);
        }
    }

    /** Commands that are on their way together. */
    final class Flight {
        /** What is sent with it. */
        final List<Call> calls = new ArrayList<>(2);

        private final int place;
        private final long sinceMicros;
        private final AtomicInteger commands = new AtomicInteger();
        private final AtomicBoolean silent = new AtomicBoolean();

        private Flight(int place, long nowMicros) {
            this.place = place;
            this.sinceMicros = nowMicros;
        }

        /** Adds a call with a place, unless its caller has stopped waiting. */
        private boolean tryLoad(Call call, long nowMicros) {
            return call.trySend(nowMicros, this) && calls.add(call);
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

        /** There was no answer in time: one that is lost is lost for all its calls. Returns true for the first of them. */
        boolean claimSilence() {
            return !silent.getAndSet(true);
        }

        /** It no longer delays others. */
        void end() {
            flights.compareAndSet(place, this, null);
        }
    }
}
