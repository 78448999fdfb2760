package io.limiter.spring.aop;

import io.limiter.TimeSource;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The future of a method that may not have been called yet. */
final class LateFuture implements Future<@Nullable Object> {
    private final CompletableFuture<Future<?>> later;
    private final @Nullable Taken taken;
    private final AtomicBoolean failed = new AtomicBoolean();

    /** With what comes back when it fails, or null. */
    LateFuture(CompletableFuture<Future<?>> later, @Nullable Taken taken) {
        this.later = later;
        this.taken = taken;
    }

    @Override
    public boolean cancel(boolean mayInterruptIfRunning) {
        // Before the decision nothing runs, and nothing will; after it, it is the method's own.
        if (later.cancel(false)) {
            return true;
        }
        Future<?> own = own();
        return own != null && own.cancel(mayInterruptIfRunning);
    }

    @Override
    public boolean isCancelled() {
        Future<?> own = own();
        return own == null ? later.isCancelled() : own.isCancelled();
    }

    @Override
    public boolean isDone() {
        Future<?> own = own();
        return own == null ? later.isDone() : own.isDone();
    }

    @Override
    public @Nullable Object get() throws InterruptedException, ExecutionException {
        try {
            return later.get().get();
        } catch (ExecutionException | CancellationException failure) {
            giveBack(failure);
            throw failure;
        }
    }

    @Override
    public @Nullable Object get(long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        long endMicros = TimeSource.system().nowMicros() + unit.toMicros(timeout);
        try {
            Future<?> own = later.get(timeout, unit);
            return own.get(Math.max(0, endMicros - TimeSource.system().nowMicros()), TimeUnit.MICROSECONDS);
        } catch (ExecutionException | CancellationException failure) {
            giveBack(failure);
            throw failure;
        }
    }

    /** The method's own future once it was called; null before, and when it never will be. */
    private @Nullable Future<?> own() {
        if (!later.isDone()) {
            return null;
        }
        try {
            return later.getNow(null);
        } catch (CancellationException | CompletionException neverCalled) {
            return null;
        }
    }

    private void giveBack(Exception failure) {
        if (taken != null && failed.compareAndSet(false, true)) {
            taken.giveBackAsync(failure);
        }
    }
}
