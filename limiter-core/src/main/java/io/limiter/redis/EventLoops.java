package io.limiter.redis;

import io.limiter.TimeSource;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The threads on which Redis' answers arrive, asked whether they get to run. While they do not, because this JVM is short
 * of processors, a missing answer says nothing about Redis. Thread-safe.
 */
final class EventLoops {
    private static final Duration HOP = Duration.ofMillis(1);

    private final Iterable<EventExecutor> loops;
    private final Deadlines timer;
    private final TimeSource time;

    /**
     * The event loops of a client.
     *
     * @param loops none where they are not visible; the timer is used instead
     */
    EventLoops(Iterable<EventExecutor> loops, Deadlines timer, TimeSource time) {
        this.loops = loops;
        this.timer = timer;
        this.time = time;
    }

    /**
     * How late the latest of them runs a task that is due now, in microseconds. By then each has read what had arrived: a
     * loop reads its sockets before its tasks, and the task comes twice, a millisecond apart, so that a reading lies between.
     *
     * @param longest after which the answer is that long, if a loop does not run at all
     */
    CompletableFuture<Long> latenessMicros(Duration longest) {
        long startMicros = time.nowMicros();
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (EventExecutor loop : loops) {
            CompletableFuture<Void> ran = new CompletableFuture<>();
            all.add(ran);
            try {
                loop.execute(() -> loop.schedule(() -> ran.complete(null), HOP.toNanos(), TimeUnit.NANOSECONDS));
            } catch (RejectedExecutionException closed) {
                ran.complete(null);
            }
        }
        if (all.isEmpty()) {
            CompletableFuture<Void> ran = new CompletableFuture<>();
            all.add(ran);
            timer.after(HOP, () -> ran.complete(null));
        }
        CompletableFuture<Long> lateness = new CompletableFuture<>();
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenRun(() -> lateness.complete(time.nowMicros() - startMicros - HOP.toNanos() / 1_000));
        timer.after(longest, () -> lateness.complete(longest.toNanos() / 1_000));
        return lateness;
    }
}
