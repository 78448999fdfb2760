package io.limiter.kit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what another process or thread does, where no clock can be set. */
public final class Await {
    private Await() {}

    /** Returns when the condition holds, for which any machine has time enough. */
    public static void until(String what, BooleanSupplier condition) {
        until(Duration.ofSeconds(60), what, condition);
    }

    /** Returns when the condition holds. */
    public static void until(Duration longest, String what, BooleanSupplier condition) {
        long end = System.nanoTime() + longest.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("not within " + longest + ": " + what);
            }
            LockSupport.parkNanos(10_000_000);
        }
    }
}
