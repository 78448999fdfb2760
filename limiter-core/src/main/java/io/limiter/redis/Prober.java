package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Asks a master whether it answers, more patiently than callers do. No answer counts only where the threads that would have
 * read it got to run: otherwise this JVM is short of processors, which is no outage of Redis. Thread-safe.
 */
final class Prober {
    private final Masters masters;
    private final Evaluator evaluator;
    private final RedisKeys keys;
    private final Deadlines deadlines;
    private final TimeSource time;
    private final EventLoops loops;

    Prober(Masters masters, Evaluator evaluator, RedisKeys keys, Deadlines deadlines, TimeSource time) {
        this.masters = masters;
        this.evaluator = evaluator;
        this.keys = keys;
        this.deadlines = deadlines;
        this.time = time;
        this.loops = new EventLoops(masters.eventLoops(), deadlines, time);
    }

    /**
     * What came of a probe.
     *
     * @param failure null for a reply
     * @param tookMicros how long it took
     */
    record Result(@Nullable BackendException failure, long tookMicros) {}

    /** Asks once. */
    CompletableFuture<Result> ask(Object master, Duration patience) {
        Call call = SelfTest.probe(keys, SelfTest.keyOn(master, masters, keys));
        long sentMicros = time.nowMicros();
        CompletableFuture<Long> lateness = loops.latenessMicros(patience);
        CompletableFuture<List<Object>> reply = new CompletableFuture<>();
        return deadlines
                .bound(patience, waiter -> {
                    evaluator
                            .run(waiter, call.script(), call.keys(), call.arguments(null))
                            .whenComplete((value, failure) -> {
                                if (failure == null) {
                                    reply.complete(value);
                                } else {
                                    reply.completeExceptionally(failure);
                                }
                            });
                    return reply;
                })
                .handle((value, failure) -> {
                    if (failure == null || RedisFailure.isAnswer(failure)) {
                        BackendException error = failure == null ? null : RedisFailure.of(failure);
                        return CompletableFuture.completedFuture(new Result(error, time.nowMicros() - sentMicros));
                    }
                    return loops.latenessMicros(patience)
                            .thenCombine(lateness, Math::max)
                            .thenApply(late -> judged(RedisFailure.of(failure), late, reply, sentMicros));
                })
                .thenCompose(result -> result);
    }

    private Result judged(
            BackendException failure, long lateMicros, CompletableFuture<List<Object>> reply, long sentMicros) {
        long tookMicros = time.nowMicros() - sentMicros;
        if (lateMicros > Deadlines.STALL_MICROS) {
            return new Result(RedisFailure.overloaded("this JVM is too busy to read the answers"), tookMicros);
        }
        boolean answered = reply.isDone() && !reply.isCompletedExceptionally();
        return new Result(answered ? null : failure, tookMicros);
    }
}
