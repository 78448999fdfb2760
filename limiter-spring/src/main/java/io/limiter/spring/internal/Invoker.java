package io.limiter.spring.internal;

import io.limiter.Decision;
import io.limiter.spring.internal.CallLimiter.ChargedCall;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/** Decides a call and makes it, without blocking its caller. Immutable. */
@FunctionalInterface
interface Invoker {
    /** By which Spring suspends. */
    String COROUTINES = "kotlinx.coroutines.reactor.MonoKt";

    /** The result for the caller. */
    @Nullable
    Object invoke(ChargedCall call) throws Throwable;

    /**
     * The invoker of a method, by its return type; null if its callers wait for the decision as for the method.
     *
     * @param waits whether a denied call may wait for its permits
     * @throws IllegalStateException if it is an asynchronous type that only the method itself can create, or its thread
     *     would have to wait
     */
    static @Nullable Invoker find(MethodScope scope, boolean waits) {
        Invoker invoker = find(scope);
        if (waits && invoker == null) {
            throw scope.error(
                    "RL-148",
                    "it has maxWait and returns "
                            + scope.method().getReturnType().getName()
                            + ", so threads would wait; return CompletionStage, CompletableFuture, or with Reactor Mono,"
                            + " Flux or Publisher; or call RateLimiter.acquire in the method");
        }
        return invoker;
    }

    private static @Nullable Invoker find(MethodScope scope) {
        boolean hasReactor = ClassUtils.isPresent("reactor.core.publisher.Flux", Invoker.class.getClassLoader());
        if (scope.isSuspending()) {
            if (!hasReactor || !ClassUtils.isPresent(COROUTINES, Invoker.class.getClassLoader())) {
                throw scope.error(
                        "RL-131",
                        "it is a suspend function, and only org.jetbrains.kotlinx:kotlinx-coroutines-reactor, which is"
                                + " missing, can suspend it until the decision; add it");
            }
            // Between proxies of Spring, which suspend its callers, its result is a Mono, or a Flux.
            return MethodScope.returned(scope.method()).getName().equals("kotlinx.coroutines.flow.Flow")
                    ? ReactorInvoker.OF_MANY
                    : ReactorInvoker.OF_ONE;
        }
        Class<?> type = scope.method().getReturnType();
        if (CompletionStage.class.isAssignableFrom(type) && type.isAssignableFrom(CompletableFuture.class)) {
            return Invoker::stageOf;
        }
        // Without Reactor its invoker can't be loaded.
        Invoker ofReactor = hasReactor ? ReactorInvoker.of(type) : null;
        if (ofReactor == null
                && (CompletionStage.class.isAssignableFrom(type)
                        || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null)) {
            throw scope.error(
                    "RL-131",
                    "it returns " + type.getName()
                            + ", which can't be created before the decision; return CompletionStage,"
                            + " CompletableFuture, or with Reactor Mono, Flux or Publisher");
        }
        return ofReactor;
    }

    /**
     * A stage, which the caller gets at once. The method is called when the decision is made, on the completing thread.
     * If the decision is known at once, that is the caller's thread; if nothing is to be done at the end, the caller gets
     * the method's own stage.
     */
    @SuppressWarnings("FutureReturnValueIgnored") // they are what the caller gets
    private static Object stageOf(ChargedCall call) throws Throwable {
        if (call.isFree()) {
            return ending(call, stage(call.proceed(false)));
        }
        CompletableFuture<Decision> pending = call.decideAsync();
        if (pending.isDone() && !pending.isCompletedExceptionally()) {
            return ending(call, answer(call, pending.join()));
        }
        CompletableFuture<@Nullable Object> promised = new CompletableFuture<>();
        promised.whenComplete((value, failure) -> {
            if (promised.isCancelled()) {
                // A call that waits leaves its queue.
                pending.cancel(false);
            }
        });
        pending.whenComplete((decision, failure) -> {
            if (promised.isDone()) {
                // Cancelled: the method must not run any more. The permits stay spent.
                call.end(End.GIVEN_UP);
                return;
            }
            if (failure != null) {
                promised.completeExceptionally(unwrapped(failure));
                return;
            }
            try {
                join(answer(call, decision), promised, call);
            } catch (Throwable thrown) {
                promised.completeExceptionally(thrown);
            }
        });
        return promised;
    }

    /** A denial completes the stage exceptionally, like other failures. */
    private static CompletionStage<?> answer(ChargedCall call, Decision decision) throws Throwable {
        if (decision.allowed()) {
            return stage(call.proceed(false));
        }
        try {
            return stage(call.deny(decision));
        } catch (Throwable thrown) {
            return CompletableFuture.failedFuture(thrown);
        }
    }

    private static CompletionStage<?> stage(@Nullable Object returned) {
        return returned instanceof CompletionStage<?> stage ? stage : CompletableFuture.completedFuture(null);
    }

    private static CompletionStage<?> ending(ChargedCall call, CompletionStage<?> stage) {
        if (!call.hasEnd()) {
            return stage;
        }
        CompletableFuture<@Nullable Object> promised = new CompletableFuture<>();
        join(stage, promised, call);
        return promised;
    }

    /** Completes the one like the other, and cancels the other if the one is cancelled. */
    @SuppressWarnings("FutureReturnValueIgnored") // as above
    private static void join(CompletionStage<?> stage, CompletableFuture<@Nullable Object> promised, ChargedCall call) {
        stage.whenComplete((value, failure) -> {
            call.end(new End(failure == null, value, failure, false));
            if (failure == null) {
                promised.complete(value);
                return;
            }
            // The method's own exception, without the wrapper of CompletableFuture.
            promised.completeExceptionally(unwrapped(failure));
        });
        promised.whenComplete((value, failure) -> {
            if (promised.isCancelled() && stage instanceof Future<?> own) {
                own.cancel(true);
            }
        });
    }

    private static Throwable unwrapped(Throwable thrown) {
        Throwable cause = MethodLimit.wrappedBy(thrown);
        return cause == null ? thrown : unwrapped(cause);
    }
}
