package io.limiter.example.server;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Waits for what a server, a thread or the garbage collector does in its own time. */
final class Await {
    private Await() {}

    /** Returns when the condition holds. It is tried at least once after the time is over. */
    static void until(Duration longest, Supplier<String> failure, Callable<Boolean> condition) throws Exception {
        long end = System.nanoTime() + longest.toNanos();
        boolean last;
        do {
            last = System.nanoTime() - end >= 0;
            if (condition.call()) {
                return;
            }
            LockSupport.parkNanos(20_000_000);
        } while (!last);
        throw new AssertionError("not within " + longest + ": " + failure.get());
    }
}
