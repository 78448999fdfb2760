package io.limiter.webflux;

import io.limiter.Decision;
import io.limiter.http.DenialAnswer;
import io.limiter.http.internal.answer.LimitsInAnswer;
import java.nio.charset.StandardCharsets;
import org.springframework.http.HttpHeaders;
import org.springframework.http.server.reactive.ServerHttpResponse;
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
        return send(
                exchange.getResponse(),
                body(WebRequest.lines(exchange.getRequest().getHeaders(), "Accept")));
    }

    /** Sends a body of ASCII; the server leaves it out for a HEAD request. */
    static Mono<Void> send(ServerHttpResponse response, Body body) {
        byte[] bytes = body.text().getBytes(StandardCharsets.US_ASCII);
        HttpHeaders headers = response.getHeaders();
        headers.set("Content-Type", body.contentType());
        headers.setContentLength(bytes.length);
        return response.writeWith(
                Mono.fromSupplier(() -> response.bufferFactory().wrap(bytes)));
    }
}
