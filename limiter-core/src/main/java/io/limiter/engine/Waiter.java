package io.limiter.engine;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A call that may wait. What changes is guarded by the lock of {@link WaitQueues}. */
final class Waiter {
    /** Completed by the queues, or cancelled by the caller. */
    final CompletableFuture<Decision> promise = new CompletableFuture<>();

    private final PermitRequest request;
    private final long sinceMicros;

    List<Charge> charges;
    /** Where it waits; null before and after. */
    @Nullable
    WaitQueue queue;

    /** Denies it when its wait is over. */
    private @Nullable Future<?> expiry;

    long untilMicros;
    /** Whether quota came back while it asked: then its denial may be older. */
    volatile boolean isStale;

    Waiter(PermitRequest request, long sinceMicros) {
        this.request = request;
        this.charges = request.charges();
        this.sinceMicros = sinceMicros;
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

    /** Notes that quota of this key came back. Whoever does so looks at the queues after it, as a call that has its answer is in one. */
    void wake(Policy policy, PartitionKey key) {
        for (Charge charge : charges) {
            if (charge.key().equals(key) && charge.policy().name().equals(policy.name())) {
                isStale = true;
            }
        }
    }

    /** On the calling thread if the executor has ended. */
    void completeOn(Executor executor, BiConsumer<CompletableFuture<Decision>, Decision> complete, Decision decision) {
        try {
            executor.execute(() -> complete.accept(promise, decision));
        } catch (RejectedExecutionException ended) {
            complete.accept(promise, decision);
        }
    }

    /** It waits in this queue from now on, or in none. */
    void moveTo(@Nullable WaitQueue other, long until, @Nullable Future<?> expires) {
        if (expiry != null) {
            expiry.cancel(false);
        }
        queue = other;
        untilMicros = until;
        expiry = expires;
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
                        ? FailureAnswers.under(policy, charge)
                        : charge)
                .toList();
        return !charges.equals(before);
    }
}
