package io.limiter.redis;

import java.util.concurrent.CompletableFuture;

/** The way to a Redis, and the clock of those who wait for it. No method blocks. Thread-safe. */
interface Transport {
    /** Sends a command to the master that has its first key; the receiver may be called on any thread. */
    void run(Command command, Command.Receiver receiver);

    /** Runs a task that never blocks after some time; no tasks after the connection is closed. */
    void after(long micros, Runnable task);

    /**
     * How late the threads run on which answers arrive, in microseconds: if this JVM has no time to read an answer (it
     * compiles, loads classes, collects garbage or lacks processors), the answer is late, but Redis is not.
     *
     * @param longestMicros the maximum result, if such a thread does not run at all
     */
    CompletableFuture<Long> latenessMicros(long longestMicros);
}
