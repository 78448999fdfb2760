package io.limiter.spring.webflux;

import io.limiter.Decision;
import io.limiter.application.Derived;
import io.limiter.application.Limiter;
import io.limiter.http.DenialAnswer;
import io.limiter.http.internal.Answers;
import io.limiter.http.internal.Answers.Begun;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.webflux.internal.ExchangeAnswers;
import java.time.Clock;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/**
 * Answers a request of WebFlux that failed because a limited method denied it, with 429 or 503 and the fields and the body
 * of the filter: in functional routes, filters and annotated controllers. It comes before the handlers of
 * Spring Boot and of WebFlux, which would answer 500. Thread-safe.
 */
public final class RateLimitExceededWebHandler implements WebExceptionHandler, Ordered {
    /** Spring Boot's own is at -1, and answers everything. */
    private static final int ORDER = -2;

    /** The depth of causes to check, so that a cycle of causes ends. */
    private static final int MOST_CAUSES = 10;

    private final Derived<Answers<Void, ServerHttpResponse>> answers;

    /** A handler with the fields of a limiter's current configuration ({@code limiter.http.headers}). */
    public RateLimitExceededWebHandler(Limiter limiter) {
        this.answers = limiter.derive(
                config -> new Answers<>(config.settings().http(), ExchangeAnswers.TYPE, null, Clock.systemUTC()));
    }

    @Override
    public int getOrder() {
        return ORDER;
    }

    /** Writes the answer of a denial; passes on any other failure, and a denial after the response is committed. */
    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        Decision denial = denial(failure);
        ServerHttpResponse response = exchange.getResponse();
        if (denial == null || response.isCommitted()) {
            return Mono.error(failure);
        }
        // Of the answer that the application has begun.
        response.getHeaders().clearContentHeaders();
        Begun<DenialAnswer> begun = answers.get()
                .tryBegin(
                        denial,
                        ExchangeAnswers.limits(exchange),
                        response,
                        (one, all) -> new DenialAnswer(one, all) {});
        return begun == null ? Mono.error(failure) : ExchangeAnswers.send(begun.answer(), exchange);
    }

    private static @Nullable Decision denial(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .limit(MOST_CAUSES)
                .filter(RateLimitExceededException.class::isInstance)
                .map(denied -> ((RateLimitExceededException) denied).decision())
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }
}
