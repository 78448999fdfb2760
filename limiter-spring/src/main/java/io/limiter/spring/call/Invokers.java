package io.limiter.spring.call;

import io.limiter.Decision;
import io.limiter.spring.expression.AnnotationError;
import io.limiter.spring.expression.MethodScope;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/** Which way of calling is for which method. */
public final class Invokers {
    /** Whether {@link ReactorInvoker} can be loaded. */
    private static final boolean REACTOR_IS_PRESENT =
            ClassUtils.isPresent("reactor.core.publisher.Flux", Invokers.class.getClassLoader());

    private Invokers() {}

    /**
     * The way of a method, by its result.
     *
     * @throws IllegalStateException if it is of an asynchronous type that only the method itself can make
     */
    public static Invoker of(MethodScope scope) {
        Class<?> type = scope.method().getReturnType();
        if (type == Object.class || type == void.class) {
            return Invokers::blocking;
        }
        if (CompletionStage.class.isAssignableFrom(type) && type.isAssignableFrom(CompletableFuture.class)) {
            return StageInvoker::invoke;
        }
        if (REACTOR_IS_PRESENT && ReactorInvoker.makes(type)) {
            return ReactorInvoker.of(type);
        }
        if (CompletionStage.class.isAssignableFrom(type)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null) {
            throw AnnotationError.at(
                    scope,
                    "RL-131",
                    "it returns " + type.getName()
                            + ", which can't be made before it is decided; return CompletionStage,"
                            + " CompletableFuture, or with Reactor Mono, Flux or Publisher");
        }
        return Invokers::blocking;
    }

    /** A value, or none: the caller waits for the decision as for the method. */
    private static @Nullable Object blocking(LimitedCall call) throws Throwable {
        if (call.isFree()) {
            return call.proceed(null, true);
        }
        Decision decision = call.decide();
        return decision.allowed() ? call.proceed(decision, true) : call.deny(decision);
    }
}
