package io.limiter.redis;

import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Calls that wait to be sent to one master, and how many are in flight: no more than the {@link Window} says. Thread-safe. */
final class SendQueue {
    /** About what Redis serves within the default deadline; a later call would wait in vain. */
    static final int LONGEST = 2_048;

    /** Guards itself, the window and what is in flight. */
    private final ArrayDeque<Errand> queue = new ArrayDeque<>();

    private final Window window;
    private int inFlight;
    /** The size of the queue, to be read without the lock; some more may wait for a moment. */
    private volatile int waiting;

    private @Nullable CompletableFuture<Void> idle;

    SendQueue(long deadlineMicros) {
        this.window = new Window(deadlineMicros);
    }

    /** Without the lock, or a flood that is turned away would keep the answers from it. */
    boolean isFull() {
        return waiting >= LONGEST;
    }

    /** Adds a call. Returns whether it has a place in flight and is to be sent now. */
    boolean add(Errand errand) {
        synchronized (queue) {
            if (inFlight < window.size() && queue.isEmpty()) {
                inFlight++;
                return true;
            }
            queue.add(errand);
            waiting = queue.size();
            return false;
        }
    }

    /** One that waited here leaves. */
    void remove(Errand errand) {
        synchronized (queue) {
            // They come in order and leave about in order, so it is near the front.
            queue.removeFirstOccurrence(errand);
            waiting = queue.size();
        }
    }

    /** The next call that waits, in the place of one that is done; without one, or in a smaller window, it is given back. */
    @Nullable
    Errand next() {
        synchronized (queue) {
            Errand errand = inFlight > window.size() ? null : queue.poll();
            waiting = queue.size();
            if (errand == null) {
                inFlight--;
                if (inFlight == 0 && idle != null) {
                    idle.complete(null);
                }
            }
            return errand;
        }
    }

    /** The next call that waits, where the window has grown. */
    @Nullable
    Errand more() {
        synchronized (queue) {
            Errand errand = inFlight < window.size() ? queue.poll() : null;
            if (errand != null) {
                inFlight++;
                waiting = queue.size();
            }
            return errand;
        }
    }

    /** Takes out all that wait. */
    List<Errand> drain() {
        synchronized (queue) {
            List<Errand> left = List.copyOf(queue);
            queue.clear();
            waiting = 0;
            return left;
        }
    }

    /** Done when no call is on its way or waits any more; for a caller that makes no new ones. */
    CompletableFuture<Void> whenIdle() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        synchronized (queue) {
            if (inFlight == 0) {
                done.complete(null);
            }
            idle = done;
        }
        return done;
    }

    /** An answer came, so much after its call was sent. */
    void answered(long nowMicros, long tookMicros) {
        synchronized (queue) {
            window.answered(nowMicros, tookMicros, !queue.isEmpty());
        }
    }

    /** A call got no answer in time. */
    void late(long nowMicros) {
        synchronized (queue) {
            window.late(nowMicros);
        }
    }

    /** Whether fewer calls could be in flight. */
    boolean canShrink() {
        synchronized (queue) {
            return !window.isSmallest();
        }
    }

    /** Begins anew, after an outage. */
    void reset() {
        synchronized (queue) {
            window.reset();
        }
    }
}
