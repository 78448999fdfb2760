package io.limiter.redis;

import io.limiter.BackendException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Ends what takes too long. A timer of our own, because Redisson's is coarse. Thread-safe; after closing, what is bound
 * already still ends in time.
 */
final class Deadlines implements AutoCloseable {
    private final ScheduledThreadPoolExecutor timer;
    private final Duration longest;

    Deadlines(Duration longest) {
        this.longest = longest;
        this.timer = new ScheduledThreadPoolExecutor(1, task -> {
            Thread thread = new Thread(task, "limiter-redis-deadlines");
            thread.setDaemon(true);
            thread.setContextClassLoader(Deadlines.class.getClassLoader());
            return thread;
        });
        timer.setRemoveOnCancelPolicy(true);
    }

    /**
     * The result of some work, or {@link BackendException} when it failed or the deadline has passed. Redisson gives a
     * command the same time and no second attempt, so what was not sent by then is not sent any more; work of several
     * steps asks before each of them whether it is abandoned.
     *
     * @param work starts the work; told whether nobody waits for it any more
     */
    <T> CompletableFuture<T> bound(Function<BooleanSupplier, CompletableFuture<T>> work) {
        return bound(work, () -> null);
    }

    /**
     * As {@link #bound(Function)}, for work that may know enough before it is done.
     *
     * @param known what is known when the deadline passes, or null
     */
    <T> CompletableFuture<T> bound(
            Function<BooleanSupplier, CompletableFuture<T>> work, Supplier<? extends @Nullable T> known) {
        CompletableFuture<T> bounded = new CompletableFuture<>();
        CompletableFuture<T> started;
        try {
            started = work.apply(bounded::isDone);
        } catch (RuntimeException e) {
            started = CompletableFuture.failedFuture(e);
        }
        ScheduledFuture<?> alarm = null;
        if (!started.isDone()) {
            try {
                alarm = timer.schedule(() -> end(bounded, known.get()), longest.toNanos(), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException closed) {
                bounded.completeExceptionally(new BackendException("the Redis backend is closed", closed));
            }
        }
        follow(started, bounded, alarm);
        return bounded;
    }

    @Override
    public void close() {
        timer.shutdown();
    }

    private static <T> void follow(
            CompletableFuture<T> work, CompletableFuture<T> bounded, @Nullable ScheduledFuture<?> alarm) {
        work.whenComplete((value, failure) -> {
            if (alarm != null) {
                alarm.cancel(false);
            }
            if (failure == null) {
                bounded.complete(value);
            } else {
                bounded.completeExceptionally(RedisFailure.of(failure));
            }
        });
    }

    private <T> void end(CompletableFuture<T> bounded, @Nullable T known) {
        if (known != null) {
            bounded.complete(known);
        } else {
            bounded.completeExceptionally(
                    new BackendException("Redis did not answer within " + longest.toMillis() + " ms"));
        }
    }
}
