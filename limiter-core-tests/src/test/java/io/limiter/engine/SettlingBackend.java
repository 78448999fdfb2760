package io.limiter.engine;

import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Hold.Settlement;
import io.limiter.TimeSource;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.HoldTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.ToLongFunction;

/** A backend in this JVM whose settlements a test can hold back, or replace by failures. */
final class SettlingBackend extends AskedBackend {
    final List<Decision> settled = new ArrayList<>();
    /** What every settlement replies; null for what became of it. */
    BackendException refusal;

    boolean isSilent;
    /** It has no records any more. */
    boolean hasLostAll;

    SettlingBackend(TimeSource time) {
        super(InProcessBackend.builder().timeSource(time).build());
    }

    @Override
    public CompletionStage<Decision> reserve(List<Charge> charges, HoldTerms terms) {
        CompletionStage<Decision> answer =
                isDown ? CompletableFuture.failedFuture(outage) : inner().reserve(charges, terms);
        if (!holdsBack) {
            return answer;
        }
        CompletableFuture<Void> answered = new CompletableFuture<>();
        heldBack.add(() -> answered.complete(null));
        return answered.thenCompose(none -> answer);
    }

    @Override
    public CompletionStage<List<Settled>> settle(
            Decision held, HoldTerms terms, ToLongFunction<? super Charge> actual) {
        settled.add(held);
        BackendException failure = isSilent ? new BackendException("silent") : refusal;
        if (failure != null) {
            return CompletableFuture.failedFuture(failure);
        }
        if (hasLostAll) {
            return CompletableFuture.completedFuture(held.outcomes().stream()
                    .map(none -> new Settled(Settlement.ENDED, 0))
                    .toList());
        }
        CompletionStage<List<Settled>> answer = inner().settle(held, terms, actual);
        if (!holdsBack) {
            return answer;
        }
        CompletableFuture<List<Settled>> later = new CompletableFuture<>();
        heldBack.add(() -> later.completeExceptionally(new BackendException("late")));
        return later;
    }
}
