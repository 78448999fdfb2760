package io.limiter.engine;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** A call that may wait. What changes is guarded by the lock of {@link WaitQueues}. */
final class Waiter {
    /** Completed by the queues, or cancelled by the caller. */
    final CompletableFuture<Decision> promise = new CompletableFuture<>();

    private final PermitRequest request;
    private final long sinceMicros;
    private final Consumer<Decision> count;
    private final Consumer<Decision> giveBack;

    List<Charge> charges;
    /** Where it waits; null before and after. */
    @Nullable
    WaitQueue queue;

    /** Denies it when its wait is over. */
    @Nullable
    Future<?> expiry;

    long untilMicros;

    /**
     * A call.
     *
     * @param count counts its decision
     * @param giveBack returns what it took, if it was cancelled
     */
    Waiter(PermitRequest request, long sinceMicros, Consumer<Decision> count, Consumer<Decision> giveBack) {
        this.request = request;
        this.charges = request.charges();
        this.sinceMicros = sinceMicros;
        this.count = count;
        this.giveBack = giveBack;
    }

    /** Until when it may wait for this charge. */
    long untilMicros(Charge charge) {
        return sinceMicros + TimeUnit.MICROSECONDS.convert(request.maxWait(charge));
    }

    /** Until when it may wait after a denial: of several charges that are denied, the shortest wait counts. */
    long untilMicros(Decision denial) {
        return denial.violated().stream()
                .mapToLong(outcome -> untilMicros(outcome.charge()))
                .min()
                .orElse(sinceMicros);
    }

    /** Counts and completes it. What a cancelled call took is given back. */
    void complete(Decision decision) {
        if (!promise.isDone()) {
            count.accept(decision);
        }
        if (!promise.complete(decision) && decision.allowed()) {
            giveBack.accept(decision);
        }
    }

    /** The same on this executor, unless that is closed. */
    void completeOn(Executor executor, Decision decision) {
        try {
            executor.execute(() -> complete(decision));
        } catch (RejectedExecutionException closed) {
            complete(decision);
        }
    }

    /** Whether one of its policies was removed since it began. */
    boolean isUnder(Map<String, Long> removedMicros) {
        return charges.stream()
                .anyMatch(charge -> removedMicros.getOrDefault(charge.policy().name(), -1L) >= sinceMicros);
    }

    /**
     * Takes the new policy of that name; returns whether it had another one. A charge with a request id keeps its policy:
     * the new one may not be able to keep the id.
     */
    boolean renew(Policy policy) {
        List<Charge> before = charges;
        charges = before.stream()
                .map(charge -> charge.policy().name().equals(policy.name()) && charge.requestId() == null
                        ? charge.under(policy)
                        : charge)
                .toList();
        return !charges.equals(before);
    }
}
