package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.TimeSource;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Probes a master, with a longer time-out than callers. A missing answer counts only if the threads that read answers
 * get to run: otherwise this JVM is short of processors, which is not an outage of Redis. Thread-safe.
 */
record Prober(Masters masters, RedisKeys keys, EventLoops loops, Timer timer, TimeSource time) {
    /**
     * The result of a probe.
     *
     * @param failure null for a reply
     * @param isAnswer whether Redis answered, perhaps with an error
     * @param tookMicros how long it took
     */
    record Result(@Nullable BackendException failure, boolean isAnswer, long tookMicros) {}

    /** Sends one probe. */
    CompletableFuture<Result> ask(Object master, Duration patience) {
        long sentMicros = time.nowMicros();
        long patienceMicros = patience.toNanos() / 1_000;
        CompletableFuture<Result> result = new CompletableFuture<>();
        CompletableFuture<Long> lateness = loops.latenessMicros(patienceMicros);
        Consumer<BackendException> noAnswer = failure -> loops.latenessMicros(patienceMicros)
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
        timer.after(patienceMicros, () -> {
            if (!result.isDone()) {
                noAnswer.accept(late);
            }
        });
        return result;
    }
}
