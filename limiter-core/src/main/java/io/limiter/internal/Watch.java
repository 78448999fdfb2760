package io.limiter.internal;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Looks at where text comes from, on a thread of its own: at files of this machine, or at what is published in Redis. Whoever looks
 * is alone.
 *
 * @param <V> a version: equal as long as the text is the same
 */
public final class Watch<V> implements AutoCloseable {
    private static final long LONGEST_END_MILLIS = 2_000;

    private final Source<V> source;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile @Nullable Thread thread;
    /** Null for none that is known. Guarded by this. */
    private @Nullable V seen;

    /** Where text comes from. */
    public interface Source<V> {
        /** The version that is there now. */
        V version();

        /** Reads the text of a version, and puts all of it into force or nothing. If this throws, the version is looked at again. */
        void take(V version) throws InterruptedException;
    }

    /** What the thread does. */
    @FunctionalInterface
    public interface Rounds {
        /** Until it is closed. */
        void run() throws InterruptedException;
    }

    /** A watch, which {@link #start} starts. */
    public Watch(Source<V> source) {
        this.source = source;
    }

    /** Takes the text if there is another one than the last time. */
    public synchronized void look() throws InterruptedException {
        V now = source.version();
        if (!now.equals(seen)) {
            seen = null;
            source.take(now);
            seen = now;
        }
    }

    /** Whatever is there is new. */
    public synchronized void forget() {
        seen = null;
    }

    /** Does this on a thread of this name. */
    public void start(String name, Rounds rounds) {
        Thread fresh = new Thread(
                () -> {
                    try {
                        rounds.run();
                    } catch (InterruptedException ended) {
                        // A container interrupts the threads of an application that it stops.
                    }
                },
                name);
        fresh.setDaemon(true);
        thread = fresh;
        fresh.start();
    }

    /** Waits that long; returns true, at once, when this is closed. */
    public boolean isClosedAfter(Duration time) throws InterruptedException {
        return closed.await(time.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Ends the thread; what it is doing may end after that. */
    @Override
    public void close() {
        closed.countDown();
        Thread watching = thread;
        if (watching != null && watching != Thread.currentThread()) {
            try {
                watching.join(LONGEST_END_MILLIS);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
