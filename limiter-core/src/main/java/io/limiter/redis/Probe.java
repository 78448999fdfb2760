package io.limiter.redis;

import io.limiter.BackendException;
import io.limiter.TimeSource;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Asks a master that may not answer, or whose address may lead to another one. */
final class Probe {
    /** Longer than callers wait: a master that answers by then is slow, not unreachable. */
    private static final long LEAST_PATIENCE_MICROS = 250_000;

    private static final long LONGEST_MICROS = 2_000_000;

    private Probe() {}

    /**
     * Sends it. Returns what completes after one of the consumers has run.
     *
     * @param deadlineMicros the longest of its callers: if it answers in that time, it is not unreachable
     * @param onAnswer gets how long the answer took, perhaps an error
     * @param onLost gets how late the threads were on which it would have come
     */
    static CompletableFuture<Void> send(
            SelfTest test, TimeSource time, long deadlineMicros, LongConsumer onAnswer, LongConsumer onLost) {
        Transport transport = test.transport;
        long patienceMicros = Math.min(LONGEST_MICROS, Math.max(LEAST_PATIENCE_MICROS, deadlineMicros));
        long sentMicros = time.nowMicros();
        CompletableFuture<Runnable> finding = new CompletableFuture<>();
        CompletableFuture<Long> lateness = transport.latenessMicros(patienceMicros);
        Runnable noAnswer = () -> transport
                .latenessMicros(patienceMicros)
                .thenCombine(lateness, Math::max)
                .thenAccept(lateMicros -> finding.complete(() -> onLost.accept(lateMicros)));
        CompletableFuture<Void> told = finding.thenAccept(Runnable::run);
        transport.probe(test.master, test.probe(patienceMicros), (reply, failure) -> {
            long tookMicros = time.nowMicros() - sentMicros;
            if (failure == null || RedisFailure.isAnswer(failure)) {
                finding.complete(() -> onAnswer.accept(tookMicros));
            } else {
                noAnswer.run();
            }
        });
        transport.after(patienceMicros, noAnswer);
        return told;
    }

    /**
     * Runs the self-test; once more by another connection, if its answers were those of a replica.
     *
     * @return the first error of a script that decides; null if all of them ran
     * @throws BackendException if there is no answer
     */
    static @Nullable BackendException test(SelfTest test, TimeSource time) {
        long sentMicros = time.nowMicros();
        BackendException found = test.run();
        boolean isReplica =
                RedisFailure.isOfReplica(found) || test.findings().stream().anyMatch(line -> line.startsWith("RL-203"));
        return isReplica && test.transport.renew(test.master, sentMicros) ? test.run() : found;
    }
}
