package io.limiter.redis;

/** Runs tasks after some time, on a thread that never blocks; no tasks after it is closed. Thread-safe. */
@FunctionalInterface
interface Timer {
    void after(long micros, Runnable task);
}
