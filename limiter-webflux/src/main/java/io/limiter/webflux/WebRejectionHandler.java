package io.limiter.webflux;

import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Answers denied requests of WebFlux, instead of the standard answer. Thread-safe. Define it as a bean, or set {@code
 * limiter.http.rejection-handler} to its class, which then is a bean or has a public constructor without parameters.
 */
@FunctionalInterface
public interface WebRejectionHandler {
    /**
     * Answers a denied request. The status, {@code Retry-After}, {@code Cache-Control: no-store} and the fields of the
     * quota are set already; the handler writes the body. It may change the status. Never called for a committed response.
     *
     * <p>If it fails and nothing is sent yet, the standard answer is sent; otherwise the answer is what was sent. A
     * warning with the code RL-322 is logged once an hour. The request is never admitted.
     */
    Mono<Void> reject(WebRejection rejection, ServerWebExchange exchange);
}
