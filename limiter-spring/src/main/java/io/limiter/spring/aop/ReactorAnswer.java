package io.limiter.spring.aop;

import io.limiter.Decision;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A Mono or a Flux: whose key it is and what it costs is known when the method is called, and it is decided each time that
 * somebody subscribes. Reactor is optional, so where it is missing nothing of this class may be touched.
 */
final class ReactorAnswer {
    private ReactorAnswer() {}

    static boolean makes(Class<?> type) {
        return type == Mono.class || type == Flux.class || type == Publisher.class;
    }

    static Answer of(Class<?> type) {
        return type == Mono.class ? ReactorAnswer::mono : ReactorAnswer::flux;
    }

    private static Object mono(LimitedMethod.Question question) {
        return Mono.defer(() -> question.isFree()
                ? Mono.from(proceed(question, null))
                : Mono.fromFuture(asked(question)).flatMap(decision -> Mono.from(answer(question, decision))));
    }

    private static Object flux(LimitedMethod.Question question) {
        return Flux.defer(() -> question.isFree()
                ? proceed(question, null)
                : Mono.fromFuture(asked(question)).flatMapMany(decision -> answer(question, decision)));
    }

    /** One of our own, for Reactor cancels it, and a limiter's stage can't be. A cancelled question stays asked. */
    private static CompletableFuture<Decision> asked(LimitedMethod.Question question) {
        return question.askAsync().toCompletableFuture();
    }

    private static Publisher<Object> answer(LimitedMethod.Question question, Decision decision) {
        if (decision.allowed()) {
            return proceed(question, decision);
        }
        try {
            return publisher(question.denied(decision));
        } catch (Throwable thrown) {
            return Flux.error(thrown);
        }
    }

    private static Publisher<Object> proceed(LimitedMethod.Question question, @Nullable Decision decision) {
        Taken taken = question.taken(decision);
        try {
            Publisher<Object> answer = publisher(question.call().proceedAgain());
            if (!taken.canComeBack()) {
                return answer;
            }
            return answer instanceof Mono<Object> mono
                    ? mono.doOnError(taken::giveBackAsync)
                    : Flux.from(answer).doOnError(taken::giveBackAsync);
        } catch (Throwable thrown) {
            if (taken.canComeBack()) {
                taken.giveBackAsync(thrown);
            }
            return Flux.error(thrown);
        }
    }

    @SuppressWarnings("unchecked") // of whatever type, it is passed on
    private static Publisher<Object> publisher(@Nullable Object answer) {
        return answer instanceof Publisher<?> publisher ? (Publisher<Object>) publisher : Mono.empty();
    }
}
