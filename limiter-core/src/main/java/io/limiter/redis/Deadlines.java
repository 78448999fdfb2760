package io.limiter.redis;

import static java.util.concurrent.TimeUnit.MICROSECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.limiter.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends what takes too long. A timer of our own, because Redisson's is coarse. Thread-safe.
 */
final class Deadlines implements AutoCloseable {
    /** An alarm later than this says that this JVM stood still: a long collection, or processors that are taken. */
    static final long STALL_MICROS = 25_000;

    private static final long LONGEST_CLOSE_MILLIS = 2_000;

    private final ScheduledThreadPoolExecutor timer;
    /** What is bound and has no end yet. */
    private final Set<CompletableFuture<?>> open = ConcurrentHashMap.newKeySet();

    private volatile @Nullable Thread thread;
    private final TimeSource time;

    Deadlines(TimeSource time) {
        this.time = time;
        this.timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread made = new Thread(task, "limiter-redis-deadlines");
            made.setDaemon(true);
            made.setContextClassLoader(Deadlines.class.getClassLoader());
            thread = made;
            return made;
        });
        timer.setRemoveOnCancelPolicy(true);
    }

    /**
     * The result of some work, or {@link io.limiter.BackendException} when it failed or the deadline has passed. What waits
     * in this JVM by then is not sent any more; work of several steps asks before each of them whether its wait is over.
     *
     * @param longest the deadline
     * @param work starts the work for who waits
     */
    <T> CompletableFuture<T> bound(Duration longest, Function<Waiter, CompletableFuture<T>> work) {
        return bound(longest, work, () -> null);
    }

    /**
     * As {@link #bound(Duration, Function)}, for work that may know enough before it is done.
     *
     * @param known what is known when the deadline passes, or null
     */
    <T> CompletableFuture<T> bound(
            Duration longest, Function<Waiter, CompletableFuture<T>> work, Supplier<? extends @Nullable T> known) {
        CompletableFuture<T> bounded = new CompletableFuture<>();
        Waiter waiter = new Waiter(longest, bounded);
        long dueMicros = time.nowMicros() + longest.toNanos() / 1_000;
        CompletableFuture<T> started;
        try {
            started = work.apply(waiter);
        } catch (RuntimeException e) {
            started = CompletableFuture.failedFuture(e);
        }
        if (started.isDone()) {
            follow(started, bounded);
            return bounded;
        }
        open.add(bounded);
        try {
            Future<?> alarm = timer.schedule(
                    () -> end(bounded, known.get(), waiter, dueMicros), dueMicros - time.nowMicros(), MICROSECONDS);
            started.whenComplete((value, failure) -> alarm.cancel(false));
        } catch (RejectedExecutionException closed) {
            bounded.completeExceptionally(RedisFailure.closed());
        }
        bounded.whenComplete((value, failure) -> open.remove(bounded));
        follow(started, bounded);
        return bounded;
    }

    /** How many alarms and tasks are set. */
    int alarms() {
        return timer.getQueue().size();
    }

    /** Runs a task after some time, unless this is closed by then. */
    void after(Duration pause, Runnable task) {
        try {
            timer.schedule(task, pause.toNanos(), NANOSECONDS);
        } catch (RejectedExecutionException closed) {
            // Nothing runs any more.
        }
    }

    /** Ends everything that is bound now, and the timer's thread. */
    @Override
    public void close() {
        timer.shutdownNow();
        for (CompletableFuture<?> bounded : List.copyOf(open)) {
            bounded.completeExceptionally(RedisFailure.closed());
        }
        Thread last = thread;
        if (last != null && last != Thread.currentThread()) {
            try {
                last.join(LONGEST_CLOSE_MILLIS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static <T> void follow(CompletableFuture<T> work, CompletableFuture<T> bounded) {
        work.whenComplete((value, failure) -> {
            if (failure == null) {
                bounded.complete(value);
            } else {
                bounded.completeExceptionally(RedisFailure.of(failure));
            }
        });
    }

    private <T> void end(CompletableFuture<T> bounded, @Nullable T known, Waiter waiter, long dueMicros) {
        boolean stalled = time.nowMicros() - dueMicros > STALL_MICROS;
        if (known != null) {
            bounded.complete(known);
            waiter.giveUp(stalled);
        } else {
            bounded.completeExceptionally(
                    RedisFailure.late(waiter.giveUp(stalled), waiter.longest().toMillis()));
        }
    }
}
