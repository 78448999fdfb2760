package io.limiter.redis;

import io.limiter.TimeSource;
import io.netty.util.concurrent.EventExecutor;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * Measures whether the threads on which answers arrive get to run: if this JVM has no time to read an answer (it
 * compiles, loads classes, collects garbage or lacks processors), the answer is late, but Redis is not. Thread-safe.
 */
record EventLoops(Masters masters, Timer timer, TimeSource time) {
    private static final long HOP_MICROS = 1_000;

    /**
     * How late the latest of them runs a task that is due now, in microseconds. By then each has read all arrived
     * answers: a loop reads its sockets before its tasks, and the task comes twice, a millisecond apart, so
     * that a reading lies between.
     *
     * @param longestMicros the maximum result, if a loop does not run at all
     */
    CompletableFuture<Long> latenessMicros(long longestMicros) {
        long startMicros = time.nowMicros();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (EventExecutor loop : masters.eventLoops()) {
            CompletableFuture<Void> ran = new CompletableFuture<>();
            all.add(ran);
            try {
                loop.execute(() -> loop.schedule(() -> ran.complete(null), HOP_MICROS, TimeUnit.MICROSECONDS));
            } catch (RejectedExecutionException closed) {
                ran.complete(null);
            }
        }
        CompletableFuture<Long> lateness = new CompletableFuture<>();
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenRun(() -> lateness.complete(time.nowMicros() - startMicros - HOP_MICROS));
        timer.after(longestMicros, () -> lateness.complete(longestMicros));
        return lateness;
    }
}
