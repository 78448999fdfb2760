package io.limiter.servlet;

import io.limiter.rule.Shares;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The requests that a filter holds. One client has at most a tenth of the places that the others leave. Thread-safe. */
final class HeldRequests {
    /** How many threads wait for lookups at once where requests can't be held. */
    private static final int MOST_THREADS = 64;

    private static final Duration LONGEST_STOP = Duration.ofSeconds(5);

    /** A request that is held. */
    interface Held {
        /** Answers it, because the server stops. */
        void refuse();
    }

    private final Shares places;
    private final Shares threads = new Shares(MOST_THREADS, 10);
    private final Set<Held> all = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;
    private volatile @Nullable Thread atExit;

    HeldRequests(int most) {
        this.places = new Shares(most, 10);
    }

    /** Takes a place for a request of a client. */
    boolean tryEnter(String client) {
        return !closed && places.tryTake(client);
    }

    /** Returns a place. */
    void leave(String client) {
        places.free(client);
    }

    void add(Held one) {
        all.add(one);
        if (closed) {
            one.refuse();
        }
    }

    /** Removes a request, and returns its place, once. */
    void remove(Held one, String client) {
        if (all.remove(one)) {
            leave(client);
            synchronized (this) {
                notifyAll();
            }
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
    void denyAtExit() {
        forgetExit();
        Thread fresh = new Thread(() -> close(Duration.ZERO), "limiter-exit");
        Runtime.getRuntime().addShutdownHook(fresh);
        atExit = fresh;
    }

    private void forgetExit() {
        Thread known = atExit;
        atExit = null;
        try {
            if (known != null) {
                Runtime.getRuntime().removeShutdownHook(known);
            }
        } catch (IllegalStateException exiting) {
            // It is running.
        }
    }

    /** Denies all that are held, holds no more, and waits until the answers are written, for up to 5 seconds. */
    void close() {
        close(LONGEST_STOP);
    }

    private void close(Duration longest) {
        closed = true;
        forgetExit();
        all.forEach(Held::refuse);
        long end = System.nanoTime() + longest.toNanos();
        synchronized (this) {
            try {
                for (long left = longest.toMillis(); !all.isEmpty() && left > 0; ) {
                    wait(left);
                    left = (end - System.nanoTime()) / 1_000_000;
                }
            } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Holds requests again. */
    void open() {
        closed = false;
    }
}
