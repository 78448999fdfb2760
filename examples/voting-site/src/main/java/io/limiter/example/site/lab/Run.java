package io.limiter.example.site.lab;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Traffic in progress: each call is made at its time, until it is complete or stopped. Thread-safe. */
final class Run {
    private final long[] offsetsMicros;
    private final Runnable call;
    private final ScheduledExecutorService timer;
    private final long startNanos = System.nanoTime();
    private @Nullable Future<?> later;
    private int next;
    private boolean stopped;

    Run(long[] offsetsMicros, Runnable call, ScheduledExecutorService timer) {
        this.offsetsMicros = offsetsMicros.clone();
        this.call = call;
        this.timer = timer;
    }

    /** Makes the calls that are due, the first ones on the caller's thread, and schedules the others. */
    void go() {
        while (isNextDue()) {
            call.run();
        }
    }

    /** Takes the next call if it is due, else schedules itself for that time. */
    private synchronized boolean isNextDue() {
        if (isOver()) {
            return false;
        }
        long waitNanos = offsetsMicros[next] * 1_000 - (System.nanoTime() - startNanos);
        if (waitNanos > 0) {
            later = timer.schedule(this::go, waitNanos, TimeUnit.NANOSECONDS);
            return false;
        }
        next++;
        return true;
    }

    synchronized boolean isOver() {
        return stopped || next == offsetsMicros.length;
    }

    synchronized void stop() {
        stopped = true;
        if (later != null) {
            later.cancel(false);
        }
    }
}
