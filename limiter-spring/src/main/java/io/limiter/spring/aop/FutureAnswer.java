package io.limiter.spring.aop;

import io.limiter.Decision;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * A future that can only be waited for: the caller gets one at once. Whether it failed is known when somebody asks for its
 * value, so what it took comes back then.
 */
@SuppressWarnings("FutureReturnValueIgnored") // they are what the caller gets
final class FutureAnswer implements Answer {
    @Override
    public Object call(LimitedMethod.Question question) throws Throwable {
        if (question.isFree()) {
            return proceed(question, null);
        }
        CompletableFuture<Decision> asked = question.askAsync().toCompletableFuture();
        if (asked.isDone() && !asked.isCompletedExceptionally()) {
            Decision decision = asked.join();
            return decision.allowed() ? proceed(question, decision) : denied(question, decision);
        }
        CompletableFuture<Future<?>> later = new CompletableFuture<>();
        asked.whenComplete((decision, failure) -> {
            if (failure != null) {
                later.completeExceptionally(Taken.causeOf(failure));
                return;
            }
            try {
                later.complete(decision.allowed() ? proceed(question, decision) : denied(question, decision));
            } catch (Throwable thrown) {
                later.completeExceptionally(thrown);
            }
        });
        return new LateFuture(later, null);
    }

    private static Future<?> proceed(LimitedMethod.Question question, @Nullable Decision decision) throws Throwable {
        Taken taken = question.taken(decision);
        try {
            Future<?> answer = futureOf(question.call().proceed());
            return taken.canComeBack() ? new LateFuture(CompletableFuture.completedFuture(answer), taken) : answer;
        } catch (Throwable failure) {
            if (taken.canComeBack()) {
                taken.giveBackAsync(failure);
            }
            throw failure;
        }
    }

    private static Future<?> denied(LimitedMethod.Question question, Decision decision) {
        try {
            return futureOf(question.denied(decision));
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    private static Future<?> futureOf(@Nullable Object answer) {
        return answer instanceof Future<?> future ? future : CompletableFuture.completedFuture(null);
    }
}
