package io.limiter;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A call that may wait. What changes is guarded by the lock of {@link WaitQueues}. */
final class Waiter {
    static final Duration LONGEST = Duration.ofDays(1);

    /** Completed by the queues, or cancelled by the caller. */
    final CompletableFuture<Decision> promise = new CompletableFuture<>();

    /** By quota: those of a local share are other charges. */
    private final Map<List<@Nullable Object>, Long> waitMicros = new HashMap<>();

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
    Waiter(
            List<Charge> charges,
            Function<? super Charge, Duration> maxWaits,
            long sinceMicros,
            Consumer<Decision> count,
            Consumer<Decision> giveBack) {
        this.charges = charges;
        this.sinceMicros = sinceMicros;
        this.count = count;
        this.giveBack = giveBack;
        // Called once and here, because code of a caller may be slow and may throw.
        for (Charge charge : charges) {
            waitMicros.put(charge.quota(), micros(charge.policy(), maxWaits.apply(charge)));
        }
    }

    /** Until when it may wait for this charge. */
    long untilMicros(Charge charge) {
        return sinceMicros + waitMicros.getOrDefault(charge.quota(), 0L);
    }

    private static long micros(Policy policy, Duration wait) {
        if (!wait.isZero() && policy.takesMembers()) {
            // Calls of known members would wait behind those that are denied.
            throw new IllegalArgumentException(
                    "policy '" + policy.name() + "' counts members, so no call to it can wait; call it without a wait");
        }
        if (wait.isNegative() || wait.compareTo(LONGEST) > 0) {
            throw new IllegalArgumentException("a wait of " + wait + " is outside 0 s to 1 day; write a shorter one");
        }
        return wait.toNanos() / 1_000;
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
