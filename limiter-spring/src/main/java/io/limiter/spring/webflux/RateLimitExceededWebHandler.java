package io.limiter.spring.webflux;

import io.limiter.Decision;
import io.limiter.application.Derived;
import io.limiter.application.Limiter;
import io.limiter.http.DenialAnswer;
import io.limiter.http.DenialAnswer.Body;
import io.limiter.http.internal.Answers;
import io.limiter.http.internal.Answers.Begun;
import io.limiter.http.internal.answer.LimitsInAnswer;
import io.limiter.http.internal.answer.ResponseType;
import io.limiter.spring.RateLimitExceededException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
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
 * Answers a request of WebFlux that failed because a limited method denied it, with 429 or 503 and the fields and the body
 * of the filter: in functional routes, filters and annotated controllers. It comes before the handlers of
 * Spring Boot and of WebFlux, which would answer 500. Thread-safe.
 */
public final class RateLimitExceededWebHandler implements WebExceptionHandler, Ordered {
    /** Spring Boot's own is at -1, and answers everything. */
    private static final int ORDER = -2;

    /** The depth of causes to check, so that a cycle of causes ends. */
    private static final int MOST_CAUSES = 10;

    /** Also of the filter: the fields list what the whole request was charged. */
    private static final String LIMITS = LimitsInAnswer.class.getName();

    private static final ResponseType<ServerHttpResponse> TYPE = new ResponseType<>(
            ServerHttpResponse::isCommitted,
            (response, status) -> {
                response.setStatusCode(HttpStatusCode.valueOf(status));
                response.getHeaders().clearContentHeaders();
            },
            response -> response.getHeaders().clear(),
            (response, field, line) -> response.getHeaders().set(field, line),
            (response, field, line) -> response.getHeaders().add(field, line),
            (response, field) -> lines(response.getHeaders(), field),
            (response, to) -> response.getHeaders().forEach(to));

    private final Derived<Answers<Void, ServerHttpResponse>> answers;

    /** A handler with the fields of a limiter's current configuration ({@code limiter.http.headers}). */
    public RateLimitExceededWebHandler(Limiter limiter) {
        this.answers = limiter.derive(config -> new Answers<>(config.settings().http(), TYPE, null, Clock.systemUTC()));
    }

    /** Not {@code get}, which has another form in each version of Spring. */
    private static List<String> lines(HttpHeaders headers, String field) {
        List<String> lines = new ArrayList<>();
        headers.forEach((name, all) -> lines.addAll(name.equalsIgnoreCase(field) ? all : List.of()));
        return lines;
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
        Object limits = exchange.getAttributes().computeIfAbsent(LIMITS, name -> new LimitsInAnswer());
        Begun<DenialAnswer> begun = answers.get()
                .tryBegin(denial, (LimitsInAnswer) limits, response, (one, all) -> new DenialAnswer(one, all) {});
        return begun == null ? Mono.error(failure) : write(begun.answer(), exchange);
    }

    private static Mono<Void> write(DenialAnswer answer, ServerWebExchange exchange) {
        Body body = answer.body(lines(exchange.getRequest().getHeaders(), "Accept"));
        byte[] bytes = body.text().getBytes(StandardCharsets.US_ASCII);
        ServerHttpResponse response = exchange.getResponse();
        response.getHeaders().set("Content-Type", body.contentType());
        response.getHeaders().setContentLength(bytes.length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(bytes)));
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
