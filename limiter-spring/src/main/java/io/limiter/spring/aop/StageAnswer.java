package io.limiter.spring.aop;

import io.limiter.Decision;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/**
 * A stage: the caller gets one at once, and the method is called when the decision is there, on the thread that brings it.
 * Where the decision is known at once, that is the caller's, and the stage is the method's own.
 */
@SuppressWarnings("FutureReturnValueIgnored") // they are what the caller gets
final class StageAnswer implements Answer {
    @Override
    public @Nullable Object call(LimitedMethod.Question question) throws Throwable {
        if (question.isFree()) {
            return proceed(question, null);
        }
        CompletableFuture<Decision> asked = question.askAsync().toCompletableFuture();
        if (asked.isDone() && !asked.isCompletedExceptionally()) {
            Decision decision = asked.join();
            return decision.allowed() ? proceed(question, decision) : denied(question, decision);
        }
        CompletableFuture<@Nullable Object> later = new CompletableFuture<>();
        asked.whenComplete((decision, failure) -> {
            if (failure != null) {
                later.completeExceptionally(Taken.causeOf(failure));
                return;
            }
            try {
                pass(decision.allowed() ? proceed(question, decision) : denied(question, decision), later, null);
            } catch (Throwable thrown) {
                later.completeExceptionally(thrown);
            }
        });
        return later;
    }

    /** The method's own stage, or where its failure gives back, one that fails after that. */
    private static @Nullable Object proceed(LimitedMethod.Question question, @Nullable Decision decision)
            throws Throwable {
        Taken taken = question.taken(decision);
        if (!taken.canComeBack()) {
            return question.call().proceed();
        }
        try {
            CompletableFuture<@Nullable Object> after = new CompletableFuture<>();
            pass(question.call().proceed(), after, taken);
            return after;
        } catch (Throwable failure) {
            taken.giveBackAsync(failure);
            throw failure;
        }
    }

    /** A denial comes where the caller looks for failures: in the stage. */
    private static @Nullable Object denied(LimitedMethod.Question question, Decision decision) {
        try {
            return question.denied(decision);
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    private static void pass(
            @Nullable Object answer, CompletableFuture<@Nullable Object> later, @Nullable Taken taken) {
        if (!(answer instanceof CompletionStage<?> stage)) {
            later.complete(null);
            return;
        }
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                later.complete(value);
                return;
            }
            if (taken != null) {
                taken.giveBackAsync(failure);
            }
            // As the method said it: without what CompletableFuture puts around it on the way.
            later.completeExceptionally(Taken.causeOf(failure));
        });
    }
}
