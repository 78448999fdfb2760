package io.limiter.spring.boot.webflux;

import io.limiter.spring.RateLimitExceededException;
import org.springframework.http.HttpStatusCode;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.ResponseBody;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Advices of applications. */
final class Advices {
    private Advices() {}

    /** Of an application that answers all failures of its controllers. */
    @ControllerAdvice
    static class Everything {
        @ExceptionHandler(Exception.class)
        @ResponseBody
        Mono<String> answer(Exception failure, ServerWebExchange exchange) {
            exchange.getResponse().setStatusCode(HttpStatusCode.valueOf(500));
            return Mono.just("sorry");
        }
    }

    /** Of an application that answers denials in its own way. */
    @ControllerAdvice
    static class Denials {
        @ExceptionHandler
        @ResponseBody
        Mono<String> answer(RateLimitExceededException denied, ServerWebExchange exchange) {
            exchange.getResponse().setStatusCode(HttpStatusCode.valueOf(420));
            return Mono.just("calm down");
        }
    }
}
