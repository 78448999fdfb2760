package io.limiter.webflux;

import io.limiter.Decision;
import io.limiter.http.DenialAnswer;
import io.limiter.http.internal.answer.LimitsInAnswer;
import io.limiter.spring.webflux.internal.ExchangeAnswers;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** A denial of a request of WebFlux. The quota fields are already set on the response. Immutable. */
public final class WebRejection extends DenialAnswer {
    WebRejection(Decision denial, LimitsInAnswer limits) {
        super(denial, limits);
    }

    /**
     * Writes the standard body: a problem document (RFC 9457), or plain text or a small HTML page if the request prefers it.
     * It sends the response.
     */
    public Mono<Void> writeTo(ServerWebExchange exchange) {
        return ExchangeAnswers.send(this, exchange);
    }
}
