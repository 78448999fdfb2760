package com.example;

import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.application.Limiter;
import io.limiter.http.DenialAnswer;
import org.springframework.cloud.gateway.filter.GatewayFilterChain;
import org.springframework.cloud.gateway.filter.GlobalFilter;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpStatusCode;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ServerWebExchange;
import reactor.core.publisher.Mono;

@Component
@Order(-1) // before the request is routed
public class ApiKeyGatewayFilter implements GlobalFilter {
    private final Limiter limiter;

    public ApiKeyGatewayFilter(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public Mono<Void> filter(ServerWebExchange exchange, GatewayFilterChain chain) {
        String apiKey = exchange.getRequest().getHeaders().getFirst("X-Api-Key");
        PartitionKey key = apiKey == null
                ? PartitionKey.global() // all requests without a key share one quota
                : PartitionKey.builder()
                        .addSecret("header.x-api-key", apiKey, limiter.keyHash())
                        .build();
        PermitRequest call = PermitRequest.of(limiter.policy("api"), key, 1);
        return Mono.fromCompletionStage(() -> limiter.rateLimiter().acquireAsync(call))
                .flatMap(decision -> {
                    if (decision.allowed()) {
                        return chain.filter(exchange);
                    }
                    DenialAnswer answer = DenialAnswer.of(limiter.config(), decision);
                    exchange.getResponse().setStatusCode(HttpStatusCode.valueOf(answer.status()));
                    answer.fields().forEach(exchange.getResponse().getHeaders()::set);
                    return exchange.getResponse().setComplete();
                });
    }
}
