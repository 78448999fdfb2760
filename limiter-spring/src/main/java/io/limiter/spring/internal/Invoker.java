package io.limiter.spring.internal;

import io.limiter.Decision;
import io.limiter.spring.internal.CallLimiter.ChargedCall;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/** Decides a call and makes it, depending on the return type of its method. Immutable. */
@FunctionalInterface
interface Invoker {
    /** The result for the caller. */
    @Nullable
    Object invoke(ChargedCall call) throws Throwable;

    /** The invoker of methods with a caller that waits for the decision. */
    Invoker BLOCKING = Invoker::invokeBlocking;

    /**
     * The invoker of a method, by its return type.
     *
     * @param waits whether a denied call may wait for its permits
     * @throws IllegalStateException if it is an asynchronous type that only the method itself can create, or its thread
     *     would have to wait
     */
    static Invoker of(MethodScope scope, boolean waits) {
        Invoker invoker = of(scope);
        if (waits && invoker == BLOCKING) {
            throw scope.error(
                    "RL-148",
                    "it has maxWait and returns "
                            + scope.method().getReturnType().getName()
                            + ", so threads would wait; return CompletionStage, CompletableFuture, or with Reactor Mono,"
                            + " Flux or Publisher; or call RateLimiter.acquire in the method");
        }
        return invoker;
    }

    private static Invoker of(MethodScope scope) {
        Class<?> type = scope.method().getReturnType();
        if (CompletionStage.class.isAssignableFrom(type) && type.isAssignableFrom(CompletableFuture.class)) {
            return StageInvoker::invoke;
        }
        // Without Reactor its invoker can't be loaded.
        Invoker ofReactor = ClassUtils.isPresent("reactor.core.publisher.Flux", Invoker.class.getClassLoader())
                ? ReactorInvoker.of(type)
                : null;
        if (ofReactor == null
                && (CompletionStage.class.isAssignableFrom(type)
                        || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null)) {
            throw scope.error(
                    "RL-131",
                    "it returns " + type.getName()
                            + ", which can't be created before the decision; return CompletionStage,"
                            + " CompletableFuture, or with Reactor Mono, Flux or Publisher");
        }
        return ofReactor == null ? BLOCKING : ofReactor;
    }

    /** A plain value, or void: the caller waits for the decision as for the method. */
    private static @Nullable Object invokeBlocking(ChargedCall call) throws Throwable {
        if (call.isFree()) {
            return call.proceed(null, true);
        }
        Decision decision = call.decide();
        return decision.allowed() ? call.proceed(decision, true) : call.deny(decision);
    }
}
