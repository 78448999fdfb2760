package io.limiter.spring.internal;

import io.limiter.Decision;
import io.limiter.spring.internal.CallLimiter.ChargedCall;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A Mono or a Flux: its key and cost are known when the method is called, and it is decided at each subscription.
 * Reactor is optional: without it this class must not be loaded.
 */
final class ReactorInvoker {
    static final Invoker OF_ONE = call -> Mono.fromDirect(flux(call, true));
    static final Invoker OF_MANY = call -> flux(call, false);

    private ReactorInvoker() {}

    /** The invoker of methods that return this type; null for types that are not Reactor's. */
    static @Nullable Invoker of(Class<?> type) {
        return type == Mono.class ? OF_ONE : type == Flux.class || type == Publisher.class ? OF_MANY : null;
    }

    /** @param isOne whether its first element is its result */
    private static Flux<Object> flux(ChargedCall call, boolean isOne) {
        return Flux.defer(() -> {
            ChargedCall again = call.again();
            // Reactor cancels the future: a call that waits leaves its queue, and one that is decided stays charged.
            Flux<Object> all = again.isFree()
                    ? Flux.from(answer(again, null))
                    : Mono.fromFuture(again.decideAsync()).flatMapMany(decision -> answer(again, decision));
            return again.hasEnd() ? ending(again, all, isOne) : all;
        });
    }

    /** Before the subscriber hears of the end; a stream that is cancelled has no result. */
    private static Flux<Object> ending(ChargedCall call, Flux<Object> all, boolean isOne) {
        AtomicReference<@Nullable Object> last = new AtomicReference<>();
        return all.doOnNext(value -> {
                    last.set(value);
                    if (isOne) {
                        call.end(new End(true, value, null, false));
                    }
                })
                .doOnComplete(() -> call.end(new End(true, last.get(), null, false)))
                .doOnError(failure -> call.end(new End(false, null, failure, false)))
                .doOnCancel(() -> call.end(End.GIVEN_UP));
    }

    /** The result of the method; if the decision denies the call, the fallback or an error. Null means that nothing can deny it. */
    private static Publisher<Object> answer(ChargedCall call, @Nullable Decision decision) {
        try {
            return publisher(decision == null || decision.allowed() ? call.proceed(false) : call.deny(decision));
        } catch (Throwable thrown) {
            return Flux.error(thrown);
        }
    }

    @SuppressWarnings("unchecked") // of whatever type, it is passed on
    private static Publisher<Object> publisher(@Nullable Object answer) {
        return answer instanceof Publisher<?> publisher ? (Publisher<Object>) publisher : Mono.justOrEmpty(answer);
    }
}
