package io.limiter.redis;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Calls before those of the first caller, on all of their paths: some threads block, some calls share a command or a
 * key, or have a future. A JVM that has not loaded and compiled this code yet needs several times the default deadline
 * for a call. Nothing is written to Redis: a call takes no permits, or only peeks, at unused keys.
 */
final class WarmUp {
    private static final int CALLS = 10_000;
    private static final long LONGEST_MICROS = 300_000;
    /** Enough for full commands. */
    private static final int THREADS = 16;
    /** These load the classes, which takes longer with more threads. */
    private static final int CALLS_ALONE = 20;

    private static final int CALLS_OF_A_KEY = 2;
    private static final int BETWEEN_STAGES = 8;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** A long period: a permit taken by mistake would leave a key behind. */
    private static final Policy POLICY = Policy.of("limiter-warm-up", Limit.fixedWindow(1, Duration.ofHours(1)));

    private static final AtomicBoolean IS_WARM = new AtomicBoolean();

    private final Backend backend;
    private final TimeSource time = TimeSource.system();
    private final long endMicros;
    private final AtomicInteger begun = new AtomicInteger();

    private WarmUp(Backend backend, long longestMicros) {
        this.backend = backend;
        this.endMicros = time.nowMicros() + longestMicros;
    }

    /** Warms up, unless this JVM has done so. */
    static void once(Backend backend, Duration longest) throws InterruptedException {
        if (!longest.isNegative() && !longest.isZero() && !IS_WARM.getAndSet(true)) {
            run(backend, longest);
        }
    }

    /** Makes {@value #CALLS} calls, or fewer if the time is over. */
    static void run(Backend backend, Duration longest) throws InterruptedException {
        WarmUp warmUp = new WarmUp(backend, Math.min(longest.toNanos() / 1_000, LONGEST_MICROS));
        ExecutorService threads = Executors.newFixedThreadPool(THREADS, task -> {
            Thread thread = new Thread(task, "limiter-redis-warm-up");
            // A call that still waits when the time is over ends by itself.
            thread.setDaemon(true);
            return thread;
        });
        try {
            warmUp.run(threads, 1, CALLS_ALONE);
            warmUp.run(threads, THREADS, CALLS);
        } finally {
            threads.shutdown();
        }
    }

    private void run(ExecutorService threads, int count, int upTo) throws InterruptedException {
        threads.invokeAll(
                Collections.nCopies(count, Executors.callable(() -> call(upTo))), leftMicros(), TimeUnit.MICROSECONDS);
    }

    private long leftMicros() {
        return endMicros - time.nowMicros();
    }

    private void call(int upTo) {
        for (int i = begun.getAndIncrement(); i < upTo && leftMicros() > 0; i = begun.getAndIncrement()) {
            int pair = i / CALLS_OF_A_KEY;
            long permits = pair % 2;
            Backend.Mode mode = permits == 0 ? Backend.Mode.TAKE : Backend.Mode.LOOK;
            List<Charge> charges = List.of(new Charge(POLICY, PartitionKey.of(Integer.toString(pair)), permits));
            try {
                if (i % BETWEEN_STAGES == 0) {
                    backend.decide(charges, mode).toCompletableFuture().join();
                } else {
                    backend.decideNow(charges, mode);
                }
            } catch (RuntimeException failed) {
                // Late, or Redis went down: only real calls matter. No loop that occupies a core.
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }
}
