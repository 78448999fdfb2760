package io.limiter.spring.aop;

import io.limiter.Decision;
import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/** How a method answers, and so how its calls are decided. Immutable. */
interface Answer {
    /** Whether {@link ReactorAnswer} can be loaded. */
    boolean REACTOR_IS_PRESENT = ClassUtils.isPresent("reactor.core.publisher.Flux", Answer.class.getClassLoader());

    /** Asks, and calls the method when it may be called. */
    @Nullable
    Object call(LimitedMethod.Question question) throws Throwable;

    /** A value, or none: the caller waits for the decision as for the method. */
    Answer VALUE = question -> {
        Taken taken;
        if (question.isFree()) {
            taken = question.taken(null);
        } else {
            Decision decision = question.ask();
            if (!decision.allowed()) {
                return question.denied(decision);
            }
            taken = question.taken(decision);
        }
        if (!taken.canComeBack()) {
            return question.call().proceed();
        }
        try {
            return question.call().proceed();
        } catch (Throwable failure) {
            taken.giveBack(failure);
            throw failure;
        }
    };

    /**
     * The way of a method.
     *
     * @throws IllegalStateException if its type can only be made by waiting
     */
    static Answer of(MethodSite site, Method method) {
        Class<?> type = method.getReturnType();
        if (type == Object.class || type == void.class) {
            return VALUE;
        }
        if (CompletionStage.class.isAssignableFrom(type) && type.isAssignableFrom(CompletableFuture.class)) {
            return new StageAnswer();
        }
        if (type == Future.class) {
            return new FutureAnswer();
        }
        if (REACTOR_IS_PRESENT && ReactorAnswer.makes(type)) {
            return ReactorAnswer.of(type);
        }
        if (Future.class.isAssignableFrom(type)
                || CompletionStage.class.isAssignableFrom(type)
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null) {
            throw Wrong.at(
                    Wrong.RETURN_TYPE,
                    site.toString(),
                    "it returns " + type.getName()
                            + ", which can't be made before it is decided; return CompletionStage,"
                            + " CompletableFuture, Future, or with Reactor Mono, Flux or Publisher");
        }
        return VALUE;
    }
}
