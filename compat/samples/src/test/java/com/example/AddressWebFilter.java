package com.example;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.application.Limiter;
import io.limiter.http.DenialAnswer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;
import reactor.core.publisher.Mono;

@Component
@Order(-10100) // before Spring Security
public class AddressWebFilter implements WebFilter {
    private final Limiter limiter;

    public AddressWebFilter(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
        InetSocketAddress peer = exchange.getRequest().getRemoteAddress();
        PartitionKey key =
                PartitionKey.of(peer == null ? "unknown" : peer.getAddress().getHostAddress());
        PermitRequest call = PermitRequest.of(limiter.policy("api"), key, 1);
        return Mono.fromCompletionStage(() -> limiter.rateLimiter().acquireAsync(call))
                .flatMap(decision -> decision.allowed() ? chain.filter(exchange) : reject(exchange, decision));
    }

    private Mono<Void> reject(ServerWebExchange exchange, Decision decision) {
        DenialAnswer answer = DenialAnswer.of(limiter.config(), decision);
        ServerHttpResponse response = exchange.getResponse();
        response.setStatusCode(HttpStatusCode.valueOf(answer.status()));
        answer.fields().forEach(response.getHeaders()::set);
        response.getHeaders().set("Content-Type", "application/problem+json");
        byte[] body = answer.problem().getBytes(StandardCharsets.UTF_8);
        return response.writeWith(Mono.just(response.bufferFactory().wrap(body)));
    }
}
