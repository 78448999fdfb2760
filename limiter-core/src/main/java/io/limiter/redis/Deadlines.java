package io.limiter.redis;

import io.limiter.BackendException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

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
     * The same result, or {@link BackendException} when it failed or the deadline has passed. What was not sent by then is
     * not sent any more: Redisson gives it the same time and no second attempt.
     */
    <T> CompletableFuture<T> bound(CompletableFuture<T> work) {
        CompletableFuture<T> bounded = new CompletableFuture<>();
        ScheduledFuture<?> alarm;
        try {
            alarm = work.isDone() ? null : timer.schedule(() -> end(bounded), longest.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException closed) {
            return CompletableFuture.failedFuture(new BackendException("the Redis backend is closed", closed));
        }
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
        return bounded;
    }

    @Override
    public void close() {
        timer.shutdown();
    }

    private void end(CompletableFuture<?> bounded) {
        bounded.completeExceptionally(
                new BackendException("Redis did not answer within " + longest.toMillis() + " ms"));
    }
}
