package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.TimeSource;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Asks a master whether it answers, more patiently than callers do. No answer counts only where the threads that would have
 * read it got to run: otherwise this JVM is short of processors, which is no outage of Redis. Thread-safe.
 */
record Prober(Masters masters, RedisKeys keys, Timer timer, TimeSource time) {
    private static final long HOP_MICROS = 1_000;

    /**
     * What came of a probe.
     *
     * @param failure null for a reply
     * @param isAnswer whether Redis answered, perhaps with an error
     * @param tookMicros how long it took
     */
    record Result(@Nullable BackendException failure, boolean isAnswer, long tookMicros) {}

    /** Asks once. */
    CompletableFuture<Result> ask(Object master, Duration patience) {
        long sentMicros = time.nowMicros();
        CompletableFuture<Result> result = new CompletableFuture<>();
        CompletableFuture<Long> lateness = latenessMicros(patience);
        Consumer<BackendException> noAnswer = failure -> latenessMicros(patience)
                .thenCombine(lateness, Math::max)
                .thenAccept(late -> result.complete(new Result(
                        late > Sender.STALL_MICROS
                                ? RedisFailure.overloaded("this JVM is too busy to read the answers")
                                : failure,
                        false,
                        time.nowMicros() - sentMicros)));
        masters.run(SelfTest.probe(masters, keys, master, patience), (reply, failure) -> {
            if (failure != null && !RedisFailure.isAnswer(failure)) {
                noAnswer.accept(RedisFailure.of(failure));
                return;
            }
            BackendException error = failure == null ? null : RedisFailure.of(failure);
            result.complete(new Result(error, true, time.nowMicros() - sentMicros));
        });
        BackendException late = RedisFailure.late(BackendException.Kind.LATE, patience.toMillis());
        timer.after(patience.toNanos() / 1_000, () -> {
            if (!result.isDone()) {
                noAnswer.accept(late);
            }
        });
        return result;
    }

    /**
     * How late the latest of the threads on which answers arrive runs a task that is due now, in microseconds. By then each
     * has read what had arrived: a loop reads its sockets before its tasks, and the task comes twice, a millisecond apart, so
     * that a reading lies between.
     *
     * @param longest after which the answer is that long, if a loop does not run at all
     */
    private CompletableFuture<Long> latenessMicros(Duration longest) {
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
        timer.after(longest.toNanos() / 1_000, () -> lateness.complete(longest.toNanos() / 1_000));
        return lateness;
    }
}
