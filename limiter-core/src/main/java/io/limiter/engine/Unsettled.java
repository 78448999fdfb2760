package io.limiter.engine;

import io.limiter.Backend;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor.HoldCount;
import io.limiter.Settlement;
import io.limiter.internal.Access;
import io.limiter.internal.HoldTerms;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToLongFunction;

/**
 * Settlements that the backend has not answered, which are tried again in the background until their records end. Safe, because
 * only the first settlement of a part has an effect. Thread-safe.
 */
final class Unsettled {
    /** Further ones are lost at once. */
    static final int MOST = 10_000;

    private static final long PAUSE_MICROS = 200_000;
    private static final int TOGETHER = 200;

    private final WaitTimer timer;
    private final HoldCounts counts;
    private final Queue<Pending> pending = new ArrayDeque<>();
    private boolean isScheduled;
    private boolean isClosed;

    /**
     * The parts without an answer.
     *
     * @param untilMicros until when their records are kept
     * @param isRepeated whether it was sent before, so that parts that have ended may have been settled by that
     */
    record Pending(
            Backend backend,
            Decision parts,
            HoldTerms terms,
            ToLongFunction<? super Charge> actual,
            long untilMicros,
            boolean isRepeated) {
        String policy() {
            return parts.outcomes().get(0).policy().name();
        }

        CompletableFuture<List<Backend.Settled>> settle() {
            try {
                return backend.settle(parts, terms, actual)
                        .toCompletableFuture()
                        .exceptionally(this::unanswered);
            } catch (RuntimeException failed) {
                return CompletableFuture.completedFuture(unanswered(failed));
            }
        }

        private List<Backend.Settled> unanswered(Throwable failed) {
            Backend.Settled each = Backend.Settled.failed(Access.LIBRARY, failed);
            return parts.outcomes().stream().map(none -> each).toList();
        }

        /** Counts these answers. What is left of it, perhaps nothing. */
        Pending left(List<Backend.Settled> answers, HoldCounts counts, long nowMicros) {
            List<LimitOutcome> left = new ArrayList<>();
            for (int i = 0; i < answers.size(); i++) {
                LimitOutcome part = parts.outcomes().get(i);
                count(counts, part, answers.get(i), nowMicros);
                if (answers.get(i).settlement() == Settlement.PENDING) {
                    left.add(part);
                }
            }
            return new Pending(
                    backend, Decision.of(parts.source(), parts.charges(), left), terms, actual, untilMicros, true);
        }

        private void count(HoldCounts counts, LimitOutcome part, Backend.Settled answer, long nowMicros) {
            String policy = part.policy().name();
            counts.add(policy, HoldCount.FORGOTTEN, answer.forgotten());
            BackendException refused = answer.refused();
            boolean isEnded = answer.settlement() == Settlement.ENDED && !isRepeated;
            // Once for each charge, however many limits it has.
            if (answer.settlement() != Settlement.PENDING
                    && !isEnded
                    && refused == null
                    && part.limit().equals(part.policy().limits().get(0))
                    && actual.applyAsLong(part.charge()) > part.charge().permits()) {
                counts.add(policy, HoldCount.ABOVE_ESTIMATE, 1);
            }
            if (refused != null) {
                counts.warn(
                        policy,
                        HoldCount.LOST,
                        "RL-411",
                        "a settlement was refused, so its actual cost is not charged: " + refused.getMessage());
            } else if (isEnded) {
                counts.warn(
                        policy,
                        HoldCount.UNKNOWN,
                        "RL-412",
                        "there is no record of a hold any more, so its actual cost was not charged: "
                                + (nowMicros < untilMicros
                                        ? "it was reset, or Redis has lost it"
                                        : "settle sooner, or raise limiter.holds.keep"));
            }
        }
    }

    Unsettled(WaitTimer timer, HoldCounts counts) {
        this.timer = timer;
        this.counts = counts;
    }

    synchronized void add(Pending settlement) {
        if (isClosed || pending.size() >= MOST) {
            lost(settlement);
            return;
        }
        pending.add(settlement);
        schedule();
    }

    private void lost(Pending settlement) {
        counts.warn(
                settlement.policy(),
                HoldCount.LOST,
                "RL-411",
                "a settlement did not reach Redis before the record of its hold ended, or more than " + MOST
                        + " waited; what was reserved came back, and the actual cost is not charged");
    }

    private void schedule() {
        if (!isScheduled && !pending.isEmpty()) {
            isScheduled = true;
            timer.schedule(this::work, PAUSE_MICROS);
        }
    }

    /** Sends one settlement; if that is answered, the backend is back, and many more are sent. */
    private void work() {
        send(1).whenComplete((answered, failed) -> {
            if (failed == null && answered) {
                send(TOGETHER).whenComplete((all, none) -> again());
            } else {
                again();
            }
        });
    }

    private synchronized void again() {
        isScheduled = false;
        if (!isClosed) {
            schedule();
        }
    }

    /** Sends some; whether one was answered. */
    private CompletableFuture<Boolean> send(int most) {
        List<CompletableFuture<Boolean>> sent = new ArrayList<>();
        for (Pending next : take(most)) {
            sent.add(next.settle().thenApply(answers -> answered(next, answers)));
        }
        return CompletableFuture.allOf(sent.toArray(CompletableFuture[]::new))
                .thenApply(none -> sent.stream().anyMatch(CompletableFuture::join));
    }

    private synchronized List<Pending> take(int most) {
        List<Pending> taken = new ArrayList<>();
        while (taken.size() < most && !pending.isEmpty()) {
            Pending next = pending.remove();
            if (next.untilMicros <= timer.nowMicros()) {
                lost(next);
            } else {
                taken.add(next);
            }
        }
        return taken;
    }

    private synchronized boolean answered(Pending sent, List<Backend.Settled> answers) {
        Pending left = sent.left(answers, counts, timer.nowMicros());
        if (left.parts.outcomes().isEmpty()) {
            return true;
        }
        if (isClosed) {
            lost(left);
            return false;
        }
        pending.add(left);
        return left.parts.outcomes().size() < answers.size();
    }

    /** How many wait. */
    synchronized int size() {
        return pending.size();
    }

    /** Settlements that still wait are reported as lost. */
    synchronized void close() {
        isClosed = true;
        pending.forEach(this::lost);
        pending.clear();
    }
}
