package io.limiter.spring.aop;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** A future that can only be waited for. Whether it failed is known when somebody asks for its value, so what it took comes back then. */
final class FutureAnswer extends LateAnswer<Future<?>> {
    @Override
    Future<?> proceed(LimitedMethod.Question question, Taken taken) throws Throwable {
        try {
            Future<?> answer = typed(question.call().proceed());
            return taken.canComeBack() ? new LateFuture(CompletableFuture.completedFuture(answer), taken) : answer;
        } catch (Throwable failure) {
            taken.giveBackAsync(failure);
            throw failure;
        }
    }

    @Override
    Future<?> typed(@Nullable Object returned) {
        return returned instanceof Future<?> future ? future : CompletableFuture.completedFuture(null);
    }

    @Override
    Object promise(CompletableFuture<Future<?>> later) {
        return new LateFuture(later, null);
    }
}
