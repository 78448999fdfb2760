package io.limiter.redis;

import io.limiter.TimeSource;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Ends calls that take too long and have no waiting thread: one sweep for all of them. Thread-safe, without a lock. */
final class Deadlines {
    private static final long LEAST_BETWEEN_MICROS = 1_000;
    /** How long at most a call that is done is kept. */
    private static final long MOST_BETWEEN_MICROS = 100_000;

    private final Queue<Call> calls = new ConcurrentLinkedQueue<>();
    private final AtomicLong nextSweepMicros = new AtomicLong(Long.MAX_VALUE);
    private final TimeSource time;
    private final Timer timer;
    private final Consumer<Call> expire;

    /** @param expire ends a call, unless it is done */
    Deadlines(TimeSource time, Timer timer, Consumer<Call> expire) {
        this.time = time;
        this.timer = timer;
        this.expire = expire;
    }

    void add(Call call) {
        calls.add(call);
        sweepAt(call.dueMicros);
    }

    /** Ends all calls now. */
    void close(Consumer<Call> end) {
        calls.forEach(end);
    }

    private void sweepAt(long micros) {
        long now = time.nowMicros();
        long due = Math.max(now + LEAST_BETWEEN_MICROS, Math.min(micros, now + MOST_BETWEEN_MICROS));
        if (due < nextSweepMicros.getAndAccumulate(due, Math::min)) {
            timer.after(due - now, () -> sweep(due));
        }
    }

    private void sweep(long dueMicros) {
        // A sweep that another one has overtaken does nothing; otherwise each would schedule another one for ever.
        if (!nextSweepMicros.compareAndSet(dueMicros, Long.MAX_VALUE)) {
            return;
        }
        long now = time.nowMicros();
        long[] next = {Long.MAX_VALUE};
        calls.removeIf(call -> {
            if (call.dueMicros > now && !call.isDone()) {
                next[0] = Math.min(next[0], call.dueMicros);
                return false;
            }
            expire.accept(call);
            return true;
        });
        if (next[0] != Long.MAX_VALUE) {
            sweepAt(next[0]);
        }
    }
}
