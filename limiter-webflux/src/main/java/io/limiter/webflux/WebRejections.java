package io.limiter.webflux;

import io.limiter.Decision;
import io.limiter.config.LimiterConfig;
import io.limiter.http.DenialAnswer.Body;
import io.limiter.http.internal.Answers;
import io.limiter.http.internal.Answers.Begun;
import io.limiter.http.internal.NamedClasses;
import io.limiter.http.internal.answer.LimitsInAnswer;
import io.limiter.http.internal.answer.ResponseType;
import java.time.Clock;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Writes decisions to responses of WebFlux. Thread-safe. */
final class WebRejections {
    private static final String ATTRIBUTE = LimitsInAnswer.class.getName();
    private static final ResponseType<ServerHttpResponse> TYPE = new ResponseType<>(
            ServerHttpResponse::isCommitted,
            (response, status) -> response.setStatusCode(HttpStatusCode.valueOf(status)),
            response -> response.getHeaders().clear(),
            (response, field, line) -> response.getHeaders().set(field, line),
            (response, field, line) -> response.getHeaders().add(field, line),
            (response, field) -> WebRequest.lines(response.getHeaders(), field),
            (response, to) -> response.getHeaders().forEach(to));

    private final Answers<WebRejectionHandler, ServerHttpResponse> answers;

    /**
     * Rejections as configured.
     *
     * @param handler null for the configured one, or the standard answer
     * @throws IllegalArgumentException if the configured one can't be made
     */
    WebRejections(LimiterConfig config, @Nullable WebRejectionHandler handler, NamedClasses classes) {
        this.answers = new Answers<>(
                config.settings().http(),
                TYPE,
                Answers.handler(config, handler, classes, WebRejectionHandler.class),
                Clock.systemUTC());
    }

    /** Writes the quota fields of a decision, unless the response is committed. */
    void writeQuota(Decision decision, ServerWebExchange exchange) {
        answers.tryWriteQuota(decision, limits(exchange), exchange.getResponse());
    }

    /** Answers a denied request. */
    Mono<Void> write(Decision denial, ServerWebExchange exchange) {
        ServerHttpResponse response = exchange.getResponse();
        Begun<WebRejection> begun = answers.tryBegin(denial, limits(exchange), response, WebRejection::new);
        if (begun == null) {
            return Mono.empty();
        }
        Mono<Void> standard = Mono.defer(() -> begun.answer().writeTo(exchange));
        WebRejectionHandler handler = answers.handler();
        return handler == null
                ? standard
                : Mono.defer(() -> handler.reject(begun.answer(), exchange))
                        .onErrorResume(
                                failure -> Mono.fromCallable(() -> answers.tryBeginAgain(failure, begun, response))
                                        .flatMap(isAgain -> isAgain ? standard : Mono.empty()));
    }

    /** Answers a caller that is always denied, or a request that was held when the server stopped. */
    Mono<Void> refuse(int status, ServerWebExchange exchange) {
        Body body = answers.tryRefuse(status, exchange.getResponse());
        return body == null ? Mono.empty() : WebRejection.send(exchange.getResponse(), body);
    }

    /** Shared by all filters of a request. */
    private static LimitsInAnswer limits(ServerWebExchange exchange) {
        return (LimitsInAnswer) exchange.getAttributes().computeIfAbsent(ATTRIBUTE, name -> new LimitsInAnswer());
    }
}
