package io.limiter.spring.internal;

import io.limiter.Decision;
import io.limiter.spring.internal.CallLimiter.ChargedCall;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A Mono or a Flux: its key and cost are known when the method is called, and it is decided at each subscription.
 * Reactor is optional: without it this class must not be loaded.
 */
final class ReactorInvoker {
    private ReactorInvoker() {}

    /** The invoker of methods that return this type; null for types that are not Reactor's. */
    static @Nullable Invoker of(Class<?> type) {
        if (type == Mono.class) {
            return call -> Mono.fromDirect(flux(call));
        }
        return type == Flux.class || type == Publisher.class ? ReactorInvoker::flux : null;
    }

    private static Flux<Object> flux(ChargedCall call) {
        return Flux.defer(() -> {
            ChargedCall again = call.again();
            return again.isFree()
                    ? proceed(again, null)
                    : asked(again).flatMapMany(decision -> answer(again, decision));
        });
    }

    /**
     * Uses a separate future, because Reactor cancels it, and a limiter's stage can't be cancelled. A cancelled call
     * stays charged.
     */
    private static Mono<Decision> asked(ChargedCall call) {
        return Mono.fromFuture(call.decideAsync().toCompletableFuture());
    }

    private static Publisher<Object> answer(ChargedCall call, Decision decision) {
        if (decision.allowed()) {
            return proceed(call, decision);
        }
        try {
            return publisher(call.deny(decision));
        } catch (Throwable thrown) {
            return Flux.error(thrown);
        }
    }

    private static Publisher<Object> proceed(ChargedCall call, @Nullable Decision decision) {
        try {
            return Flux.from(publisher(call.proceed(decision, false)))
                    .doOnError(failure -> call.refund(failure, false));
        } catch (Throwable thrown) {
            return Flux.error(thrown);
        }
    }

    @SuppressWarnings("unchecked") // of whatever type, it is passed on
    private static Publisher<Object> publisher(@Nullable Object answer) {
        return answer instanceof Publisher<?> publisher ? (Publisher<Object>) publisher : Mono.empty();
    }
}
