package io.limiter.spring.aop;

import io.limiter.Decision;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Something that the caller gets at once, and the method is called when the decision is there, on the thread that brings it.
 * Where the decision is known at once, that is the caller's, and the caller gets what the method returned.
 *
 * @param <T> what the method returns
 */
@SuppressWarnings("FutureReturnValueIgnored") // they are what the caller gets
abstract class LateAnswer<T> implements Answer {
    @Override
    public final @Nullable Object call(LimitedMethod.Question question) throws Throwable {
        if (question.isFree()) {
            return proceed(question, question.taken(null));
        }
        CompletableFuture<Decision> asked = question.askAsync().toCompletableFuture();
        if (asked.isDone() && !asked.isCompletedExceptionally()) {
            return answer(question, asked.join());
        }
        CompletableFuture<T> later = new CompletableFuture<>();
        asked.whenComplete((decision, failure) -> {
            if (later.isDone()) {
                // Cancelled: the method must not run any more. What was asked stays taken.
                return;
            }
            if (failure != null) {
                later.completeExceptionally(Taken.causeOf(failure));
                return;
            }
            try {
                later.complete(answer(question, decision));
            } catch (Throwable thrown) {
                later.completeExceptionally(thrown);
            }
        });
        return promise(later);
    }

    /** Calls the method. */
    abstract T proceed(LimitedMethod.Question question, Taken taken) throws Throwable;

    /** What the method returned, or a fallback, in the type that the caller expects. */
    abstract T typed(@Nullable Object returned);

    /** What the caller gets for what the method will return. */
    abstract Object promise(CompletableFuture<T> later);

    private T answer(LimitedMethod.Question question, Decision decision) throws Throwable {
        return decision.allowed() ? proceed(question, question.taken(decision)) : denied(question, decision);
    }

    /** A denial comes where the caller looks for failures: in what the method returns. */
    private T denied(LimitedMethod.Question question, Decision decision) {
        try {
            return typed(question.denied(decision));
        } catch (Throwable thrown) {
            return typed(CompletableFuture.failedFuture(thrown));
        }
    }
}
