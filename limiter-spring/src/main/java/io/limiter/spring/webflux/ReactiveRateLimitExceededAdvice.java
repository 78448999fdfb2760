package io.limiter.spring.webflux;

import io.limiter.spring.RateLimitExceededException;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/**
 * Answers denied calls in annotated controllers of WebFlux before an advice without an order does, so that one for all
 * exceptions does not answer 500. To answer differently, write an {@code
 * @ExceptionHandler(RateLimitExceededException.class)}: in a
 * controller it goes first anyway, and with one in a {@code @ControllerAdvice} this class is not used at all. Thread-safe.
 */
@ControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE - 100)
public class ReactiveRateLimitExceededAdvice {
    private final RateLimitExceededWebHandler handler;

    /** An advice with the answers of this handler. */
    public ReactiveRateLimitExceededAdvice(RateLimitExceededWebHandler handler) {
        this.handler = handler;
    }

    /** Writes the answer; if the response is committed, the exception is passed to the server, which aborts it. */
    @ExceptionHandler
    public Mono<Void> answer(RateLimitExceededException exception, ServerWebExchange exchange) {
        return handler.handle(exchange, exception);
    }
}
