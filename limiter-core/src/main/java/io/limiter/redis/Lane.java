package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.TimeSource;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The way to one master. So many calls are in flight at most that Redis serves them within a few milliseconds; the rest waits
 * here, so that who waits too long leaves without having been sent, and so that waiting here (this JVM asks too much) can be
 * told from waiting for Redis (an outage). Thread-safe.
 */
final class Lane {
    /** At some 20 us a script Redis serves these in 5 ms; at a round trip of 1 ms they are 250 000 calls a second. */
    static final int IN_FLIGHT = 256;
    /** About what Redis serves within the default deadline; who comes later would wait in vain. */
    static final int WAITING = 2_048;

    private final Object master;
    private final String name;
    private final TimeSource time;
    private final Consumer<Lane> opened;
    private final Consumer<Lane> closed;
    private final Breaker breaker = new Breaker();
    private final ArrayDeque<Errand> queue = new ArrayDeque<>();
    private int inFlight;
    private @Nullable CompletableFuture<Void> idle;
    private volatile long lastAnswerMicros = Long.MIN_VALUE;

    /**
     * A lane.
     *
     * @param master where it leads, as {@link Masters} knows it
     * @param name how messages call the master
     * @param time a monotonic clock
     * @param opened told when the breaker has opened
     * @param closed told when it has closed again
     */
    Lane(Object master, String name, TimeSource time, Consumer<Lane> opened, Consumer<Lane> closed) {
        this.master = master;
        this.name = name;
        this.time = time;
        this.opened = opened;
        this.closed = closed;
    }

    Object master() {
        return master;
    }

    String name() {
        return name;
    }

    boolean isOpen() {
        return breaker.isOpen();
    }

    /** Makes a call for somebody who waits; fails at once while the breaker is open or too many waiter. */
    CompletableFuture<List<Object>> run(Waiter waiter, Supplier<CompletableFuture<List<Object>>> call) {
        if (breaker.isOpen()) {
            return CompletableFuture.failedFuture(notAsked());
        }
        Errand errand = new Errand(this, waiter, call, time.nowMicros());
        waiter.add(errand);
        boolean now;
        synchronized (queue) {
            now = inFlight < IN_FLIGHT && queue.isEmpty();
            if (now) {
                inFlight++;
            } else if (queue.size() < WAITING) {
                queue.add(errand);
            } else {
                return CompletableFuture.failedFuture(
                        RedisFailure.overloaded(WAITING + " calls wait already to be sent to " + name));
            }
        }
        if (now) {
            sendFrom(errand);
        }
        return errand.answer();
    }

    /** A call beside the queue, whatever the breaker says: to find out how the master is. */
    CompletableFuture<List<Object>> probe(Waiter waiter, Supplier<CompletableFuture<List<Object>>> call) {
        Errand errand = new Errand(this, waiter, call, time.nowMicros());
        waiter.add(errand);
        synchronized (queue) {
            inFlight++;
        }
        sendFrom(errand);
        return errand.answer();
    }

    /** The master does not answer: for who finds that out in another way. */
    void open() {
        if (breaker.open()) {
            failWaiting(notAsked());
            opened.accept(this);
        }
    }

    /** An answer came in time. */
    void answered() {
        lastAnswerMicros = time.nowMicros();
        if (breaker.answered()) {
            closed.accept(this);
        }
    }

    /** The call got no answer in time: because the master gives none, or because this JVM asks too much of it. */
    BackendException.Kind missed(Errand errand) {
        if (lastAnswerMicros >= errand.sinceMicros()) {
            return BackendException.Kind.OVERLOADED;
        }
        if (breaker.silent()) {
            failWaiting(notAsked());
            opened.accept(this);
        }
        return BackendException.Kind.UNAVAILABLE;
    }

    /** As {@link #missed}, for a call that failed before anybody gave it up. */
    BackendException silent(Errand errand, BackendException failure) {
        return missed(errand) == BackendException.Kind.UNAVAILABLE
                ? failure
                : RedisFailure.overloaded(name + " answers others, this call not");
    }

    /** One that waited here leaves. */
    void leave(Errand errand) {
        synchronized (queue) {
            // They come in order and leave about in order, so it stands near the front.
            queue.removeFirstOccurrence(errand);
        }
    }

    /** A place in flight is free. */
    void free() {
        sendFrom(next());
    }

    /** Done when no call is on its way or waits any more; for who makes no new ones. */
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

    /** Fails all that wait to be sent. */
    void failWaiting(BackendException failure) {
        List<Errand> left;
        synchronized (queue) {
            left = List.copyOf(queue);
            queue.clear();
        }
        left.forEach(errand -> errand.fail(failure));
    }

    private BackendException notAsked() {
        return new BackendException(
                "RL-225 " + name + " does not answer, so it is not asked until a probe gets through");
    }

    /** Sends a call that has a place in flight; when it fails at once, the next one in its place, and so on. */
    private void sendFrom(@Nullable Errand first) {
        Errand errand = first;
        while (errand != null) {
            Errand sent = errand;
            errand = null;
            CompletableFuture<List<Object>> reply = sent.send(time.nowMicros());
            if (reply == null) {
                errand = next();
            } else if (reply.isDone()) {
                Errand[] following = new Errand[1];
                reply.whenComplete((value, failure) -> {
                    if (sent.finish(value, failure)) {
                        following[0] = next();
                    }
                });
                errand = following[0];
            } else {
                reply.whenComplete((value, failure) -> {
                    if (sent.finish(value, failure)) {
                        sendFrom(next());
                    }
                });
            }
        }
    }

    /** The next call that still waits, in the place of one that is done; without one the place is given back. */
    private @Nullable Errand next() {
        synchronized (queue) {
            Errand errand = queue.poll();
            if (errand == null) {
                inFlight--;
                if (inFlight == 0 && idle != null) {
                    idle.complete(null);
                }
            }
            return errand;
        }
    }
}
