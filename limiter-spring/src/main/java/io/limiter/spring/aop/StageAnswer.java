package io.limiter.spring.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** A stage: the method's own where nothing is waited for and nothing comes back, else one that goes with it to its end. */
@SuppressWarnings("FutureReturnValueIgnored") // they are what the caller gets
final class StageAnswer extends LateAnswer<CompletionStage<?>> {
    @Override
    CompletionStage<?> proceed(LimitedMethod.Question question, Taken taken) throws Throwable {
        try {
            CompletionStage<?> answer = typed(question.call().proceed());
            if (!taken.canComeBack()) {
                return answer;
            }
            CompletableFuture<@Nullable Object> after = new CompletableFuture<>();
            join(answer, after, taken);
            return after;
        } catch (Throwable failure) {
            taken.giveBackAsync(failure);
            throw failure;
        }
    }

    @Override
    CompletionStage<?> typed(@Nullable Object returned) {
        return returned instanceof CompletionStage<?> stage ? stage : CompletableFuture.completedFuture(null);
    }

    @Override
    Object promise(CompletableFuture<CompletionStage<?>> later) {
        CompletableFuture<@Nullable Object> promised = new CompletableFuture<>();
        later.whenComplete((stage, failure) -> {
            if (failure == null) {
                join(stage, promised, null);
            } else {
                promised.completeExceptionally(failure);
            }
        });
        promised.whenComplete((value, failure) -> {
            if (promised.isCancelled()) {
                later.cancel(false);
            }
        });
        return promised;
    }

    /** Ends the one as the other ended, and cancels the other when the one is cancelled. */
    private static void join(
            CompletionStage<?> stage, CompletableFuture<@Nullable Object> promised, @Nullable Taken taken) {
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                promised.complete(value);
                return;
            }
            if (taken != null) {
                taken.giveBackAsync(failure);
            }
            // As the method said it: without what CompletableFuture puts around it on the way.
            promised.completeExceptionally(Taken.causeOf(failure));
        });
        promised.whenComplete((value, failure) -> {
            if (promised.isCancelled() && stage instanceof Future<?> own) {
                own.cancel(true);
            }
        });
    }
}
