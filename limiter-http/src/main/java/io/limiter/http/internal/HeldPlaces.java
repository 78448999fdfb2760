package io.limiter.http.internal;

import io.limiter.application.Limiter;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The requests that a door holds, and the places for them; and the threads that wait for lookups where requests can't be held. One
 * client has at most a tenth of the places that the others leave. Thread-safe.
 */
public final class HeldPlaces {
    private static final Duration LONGEST_STOP = Duration.ofSeconds(5);
    private static final int MOST_THREADS = 64;
    private static final int PARTS = 10;

    private final Shares places;
    private final Shares threads = new Shares(MOST_THREADS, PARTS);
    private final Set<Refusable> all = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean isNoted = new AtomicBoolean();
    private volatile boolean closed;
    private final Thread atExit = new Thread(() -> close(Duration.ZERO), "limiter-exit");

    /** As many places as the configuration of a limiter has now. */
    public HeldPlaces(Limiter limiter) {
        this(limiter.config().settings().storage().maxWaiting());
    }

    /** Places for this number of requests. */
    public HeldPlaces(int most) {
        this.places = new Shares(most, PARTS);
    }

    /** A request that is held. */
    interface Refusable {
        /** Denies it now, unless it was answered. */
        void refuse();
    }

    /** Whether it is to be logged that the server can't hold requests: once. */
    public boolean tryNote() {
        return isNoted.compareAndSet(false, true);
    }

    /** Takes a place for a request of a client. */
    public boolean tryEnter(String client) {
        if (!places.tryTake(client)) {
            return false;
        }
        boolean isOpen = !closed;
        if (!isOpen) {
            leave(client);
        }
        return isOpen;
    }

    /** Returns a place. */
    public void leave(String client) {
        places.free(client);
        if (closed) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    /** Holds a request that has a place; refuses it if the door does not hold any more. */
    void hold(Refusable request) {
        all.add(request);
        if (closed) {
            request.refuse();
        }
    }

    /** Holds a request no longer, and returns its place, once. */
    void release(Refusable request, String client) {
        if (all.remove(request)) {
            leave(client);
        }
    }

    /** Waits for lookups on this thread; not at all if too many threads do, because a client could occupy all of them. */
    void await(CompletableFuture<?> lookups, String client) {
        if (!lookups.isDone() && threads.tryTake(client)) {
            try {
                lookups.join();
            } finally {
                threads.free(client);
            }
        }
    }

    /** Denies all that are held as soon as the JVM begins to exit: the server stops at the same time. */
    public void denyAtExit() {
        forgetExit();
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    private void forgetExit() {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException exiting) {
            // It is running.
        }
    }

    /** Denies all that are held, holds no more, and waits until the answers are written, for up to 5 seconds. */
    public void close() {
        close(LONGEST_STOP);
    }

    // Not private for the test that needs more time.
    void close(Duration longest) {
        closed = true;
        forgetExit();
        all.forEach(Refusable::refuse);
        // A request that has its place and is about to be held refuses itself.
        long end = System.nanoTime() + longest.toNanos();
        synchronized (this) {
            try {
                for (long left = longest.toMillis(); places.areTaken() && left > 0; ) {
                    wait(left);
                    left = (end - System.nanoTime()) / 1_000_000;
                }
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Holds requests again. */
    public void open() {
        closed = false;
    }
}
