package io.limiter.engine;

import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;

/** The timer of waiting calls, on a time that a test sets. Tasks run in {@link #advance} and {@link #run}. */
public final class ManualTimer extends WaitTimer {
    public final ManualTime time = new ManualTime();
    private final List<Task> tasks = new ArrayList<>();

    private record Task(long atMicros, FutureTask<?> task) {}

    @Override
    long nowMicros() {
        return time.nowMicros();
    }

    @Override
    synchronized Future<?> schedule(Runnable task, long micros) {
        FutureTask<?> made = new FutureTask<>(task, null);
        tasks.add(new Task(nowMicros() + Math.max(0, micros), made));
        return made;
    }

    @Override
    public void execute(Runnable task) {
        schedule(task, 0);
    }

    /** Runs what is due now. */
    public void run() {
        advance(0);
    }

    /** A limiter in this JVM, on this time: who waits has its turn only when the test moves it on. */
    public RateLimiter limiter() {
        return limiter(
                RateLimiters.builder(InProcessBackend.builder().timeSource(time).build()));
    }

    /** Another one. */
    public RateLimiter limiter(RateLimiters.Builder others) {
        return others.timer(this).build();
    }

    /** Runs what is due now, until something has happened that other threads do as well. */
    public void runUntil(String what, BooleanSupplier condition) {
        Await.until(what, () -> {
            run();
            return condition.getAsBoolean();
        });
    }

    /** Moves the time on, half a second by half a second, until something has happened that other threads do as well. */
    public void advanceUntil(String what, BooleanSupplier condition) {
        Await.until(what, () -> {
            if (condition.getAsBoolean()) {
                return true;
            }
            advance(500_000);
            return condition.getAsBoolean();
        });
    }

    /** Moves the time on, and runs what is due on the way at its time. */
    public void advance(long micros) {
        long end = nowMicros() + micros;
        for (Task next = next(end); next != null; next = next(end)) {
            time.setMicros(Math.max(nowMicros(), next.atMicros));
            next.task.run();
            check(next.task);
        }
        time.setMicros(end);
    }

    private static void check(FutureTask<?> task) {
        try {
            if (!task.isCancelled()) {
                task.get();
            }
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    private synchronized Task next(long end) {
        tasks.removeIf(task -> task.task.isCancelled());
        Task first = tasks.stream().min(Comparator.comparing(Task::atMicros)).orElse(null);
        if (first == null || first.atMicros > end) {
            return null;
        }
        tasks.remove(first);
        return first;
    }

    /** How many tasks wait for their time. */
    synchronized int size() {
        tasks.removeIf(task -> task.task.isCancelled());
        return tasks.size();
    }
}
