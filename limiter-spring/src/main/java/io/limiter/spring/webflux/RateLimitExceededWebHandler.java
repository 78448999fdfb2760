package io.limiter.spring.webflux;

import io.limiter.Decision;
import io.limiter.application.Limiter;
import io.limiter.http.DenialAnswer;
import io.limiter.spring.RateLimitExceededException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;
import reactor.core.publisher.Mono;

/**
 * Answers a request of WebFlux that failed because a limited method denied it, with 429 or 503 and the fields and the problem
 * document of the servlet filter: in functional routes, filters and annotated controllers. It comes before the handlers of
 * Spring Boot and of WebFlux, which would answer 500. Thread-safe.
 */
public final class RateLimitExceededWebHandler implements WebExceptionHandler, Ordered {
    /** Spring Boot's own is at -1, and answers everything. */
    private static final int ORDER = -2;

    /** The depth of causes to check, so that a cycle of causes ends. */
    private static final int MOST_CAUSES = 10;

    private final Limiter limiter;

    /** A handler with the fields of a limiter's current configuration ({@code limiter.http.headers}). */
    public RateLimitExceededWebHandler(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public int getOrder() {
        return ORDER;
    }

    /** Writes the answer of a denial; passes on any other failure, and a denial after the response is committed. */
    @Override
    public Mono<Void> handle(ServerWebExchange exchange, Throwable failure) {
        Decision denial = denial(failure);
        return denial == null || exchange.getResponse().isCommitted()
                ? Mono.error(failure)
                : write(DenialAnswer.of(limiter.config(), denial), exchange.getResponse());
    }

    private static Mono<Void> write(DenialAnswer answer, ServerHttpResponse response) {
        response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
        HttpHeaders headers = response.getHeaders();
        headers.clearContentHeaders();
        answer.fields().forEach(headers::set);
        if (!answer.exposedFields().isEmpty()) {
            headers.add("Access-Control-Expose-Headers", answer.exposedFields());
        }
        byte[] body = answer.problem().getBytes(StandardCharsets.US_ASCII);
        headers.set("Content-Type", "application/problem+json");
        headers.setContentLength(body.length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(body)));
    }

    private static @Nullable Decision denial(Throwable failure) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .limit(MOST_CAUSES)
                .filter(RateLimitExceededException.class::isInstance)
                .map(denied -> ((RateLimitExceededException) denied).decision())
                .findFirst()
                .orElse(null);
    }
}
