package com.example;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.http.DenialAnswer;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.container.ContainerRequestFilter;
import jakarta.ws.rs.container.PreMatching;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.ext.Provider;

@Provider
@PreMatching
public class LimitingRequestFilter implements ContainerRequestFilter {
    private final Limiter limiter;

    public LimitingRequestFilter(Limiter limiter) {
        this.limiter = limiter;
    }

    @Override
    public void filter(ContainerRequestContext request) {
        String apiKey = request.getHeaderString("X-Api-Key");
        PartitionKey key = apiKey == null
                ? PartitionKey.global() // all requests without a key share one quota
                : PartitionKey.builder()
                        .addSecret("header.x-api-key", apiKey, limiter.keyHash())
                        .build();
        Decision decision = limiter.tryAcquire("api", key, 1);
        if (!decision.allowed()) {
            DenialAnswer answer = DenialAnswer.of(limiter.config(), decision);
            Response.ResponseBuilder response = Response.status(answer.status())
                    .type("application/problem+json")
                    .entity(answer.problem());
            answer.fields().forEach(response::header);
            request.abortWith(response.build());
        }
    }
}
