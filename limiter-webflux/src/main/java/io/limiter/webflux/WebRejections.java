package io.limiter.webflux;

import io.limiter.Decision;
import io.limiter.config.LimiterConfig;
import io.limiter.http.DenialAnswer.Body;
import io.limiter.http.internal.Answers;
import io.limiter.http.internal.Answers.Begun;
import io.limiter.http.internal.NamedClasses;
import io.limiter.spring.webflux.internal.ExchangeAnswers;
import java.time.Clock;
import org.jspecify.annotations.Nullable;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Writes decisions to responses of WebFlux. Thread-safe. */
final class WebRejections {
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
                ExchangeAnswers.TYPE,
                Answers.handler(config, handler, classes, WebRejectionHandler.class),
                Clock.systemUTC());
    }

    /** Writes the quota fields of a decision, unless the response is committed. */
    void writeQuota(Decision decision, ServerWebExchange exchange) {
        answers.tryWriteQuota(decision, ExchangeAnswers.limits(exchange), exchange.getResponse());
    }

    /** Answers a denied request. */
    Mono<Void> write(Decision denial, ServerWebExchange exchange) {
        ServerHttpResponse response = exchange.getResponse();
        Begun<WebRejection> begun =
                answers.tryBegin(denial, ExchangeAnswers.limits(exchange), response, WebRejection::new);
        if (begun == null) {
            // The response is committed, so another answer is on its way already.
            return Mono.empty();
        }
        Mono<Void> standard = Mono.defer(() -> begun.answer().writeTo(exchange));
        WebRejectionHandler handler = answers.handler();
        return handler == null
                ? standard
                : Mono.defer(() -> handler.reject(begun.answer(), exchange))
                        .onErrorResume(
                                failure -> answers.tryBeginAgain(failure, begun, response) ? standard : Mono.empty());
    }

    /** Answers a caller that is always denied, or a request that was held when the server stopped. */
    Mono<Void> refuse(int status, ServerWebExchange exchange) {
        Body body = answers.tryRefuse(status, exchange.getResponse());
        return body == null ? Mono.empty() : ExchangeAnswers.send(exchange.getResponse(), body);
    }
}
