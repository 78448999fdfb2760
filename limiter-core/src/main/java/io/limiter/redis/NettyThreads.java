package io.limiter.redis;

import io.limiter.TimeSource;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The threads of Netty, which both clients have. */
final class NettyThreads {
    private static final TimeSource TIME = TimeSource.system();
    /** The time between the two tasks that measure a thread. */
    private static final long HOP_MICROS = 1_000;

    private NettyThreads() {}

    /**
     * How late a task runs that is due now, in microseconds. By then each thread has read all arrived answers: it reads its sockets
     * before its tasks, and the task comes twice, a millisecond apart, so that a reading lies between.
     *
     * @param longestMicros the maximum result, if such a thread does not run at all
     */
    static CompletableFuture<Long> latenessMicros(
            Iterable<EventExecutor> threads, ScheduledExecutorService timer, long longestMicros) {
        long startMicros = TIME.nowMicros();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (EventExecutor one : threads) {
            Executor twice = task -> one.execute(() -> one.schedule(task, HOP_MICROS, TimeUnit.MICROSECONDS));
            try {
                all.add(CompletableFuture.runAsync(() -> {}, twice));
            } catch (RejectedExecutionException closed) {
                // No answers arrive on it.
            }
        }
        CompletableFuture<Long> lateness = CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenApply(ran -> TIME.nowMicros() - startMicros - HOP_MICROS);
        timer.schedule(() -> lateness.complete(longestMicros), longestMicros, TimeUnit.MICROSECONDS);
        return lateness;
    }

    /**
     * Netty has one thread for the whole JVM, or for the whole web application that brings its own Netty: it ends a second
     * after its last work. In a container this waits for it, because the container reports a thread that is left behind as
     * a leak.
     */
    static void awaitEnd(long longestSeconds) {
        ClassLoader loader = NettyThreads.class.getClassLoader();
        if (loader != ClassLoader.getSystemClassLoader() && GlobalEventExecutor.class.getClassLoader() == loader) {
            try {
                GlobalEventExecutor.INSTANCE.awaitInactivity(longestSeconds, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (IllegalStateException neverStarted) {
                // Nothing to wait for.
            }
        }
    }
}
