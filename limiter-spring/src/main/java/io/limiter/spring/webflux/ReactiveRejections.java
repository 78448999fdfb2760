package io.limiter.spring.webflux;

import io.limiter.Decision;
import io.limiter.config.LimiterConfig;
import io.limiter.servlet.rejection.DenialAnswer;
import java.nio.charset.StandardCharsets;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

/** Answers denied requests of WebFlux as the servlet filter does: the same status, fields and problem document. Thread-safe. */
final class ReactiveRejections {
    private final LimiterConfig config;

    ReactiveRejections(LimiterConfig config) {
        this.config = config;
    }

    /** Writes the answer to a request that was denied, whose response is not committed. */
    Mono<Void> write(Decision denial, ServerWebExchange exchange) {
        DenialAnswer answer = DenialAnswer.of(config, denial);
        ServerHttpResponse response = exchange.getResponse();
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
}
