package io.limiter.redis;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/** What the JDK's own methods do at a price: they wrap a failure in an exception with a stack trace, at each step again. */
final class Futures {
    private Futures() {}

    /** As {@link CompletableFuture#thenApply}, but a failure stays as it is. */
    static <T, R> CompletableFuture<R> map(CompletableFuture<T> future, Function<? super T, ? extends R> function) {
        CompletableFuture<R> mapped = new CompletableFuture<>();
        future.whenComplete((value, failure) -> {
            if (failure != null) {
                mapped.completeExceptionally(failure);
                return;
            }
            try {
                mapped.complete(function.apply(value));
            } catch (RuntimeException e) {
                mapped.completeExceptionally(e);
            }
        });
        return mapped;
    }
}
