package io.limiter.compat.kotlin;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.config.EnableRateLimiting;
import io.limiter.webflux.RateLimitWebFilter;
import java.io.StringReader;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.server.reactive.HttpHandler;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.server.adapter.WebHttpHandlerBuilder;

/** Rules limit requests to coroutines, and hear of their end. */
class CoroutinesTest {
    private static final String RULES = """
            limiter.rules.vote.path = /vote, /missing
            limiter.rules.vote.key = global
            limiter.rules.vote.limits = 2/1h fixed, 1 concurrent
            limiter.rules.vote.refund-on = 404
            """;

    @Configuration
    @EnableWebFlux
    @Import(CoroutineVotes.class)
    @EnableRateLimiting
    static class Site {
        @Bean
        Limiter limiter() throws Exception {
            return Limiter.start(LimiterConfig.builder()
                    .text("test", new StringReader(RULES))
                    .build());
        }

        @Bean
        RateLimitWebFilter filter(Limiter limiter) {
            return RateLimitWebFilter.builder(limiter).build();
        }
    }

    @Test
    void areLimited() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Site.class)) {
            HttpHandler handler =
                    WebHttpHandlerBuilder.applicationContext(context).build();
            assertEquals(List.of(404, 404, 404), statuses(handler, "/missing"));
            assertEquals(List.of(200, 200, 429), statuses(handler, "/vote"));
            assertEquals(List.of(200, 200, 429), statuses(handler, "/annotated"));
        }
    }

    private static List<Integer> statuses(HttpHandler handler, String path) {
        return IntStream.range(0, 3)
                .mapToObj(i -> {
                    MockServerHttpResponse response = new MockServerHttpResponse();
                    handler.handle(MockServerHttpRequest.get(path).build(), response)
                            .block();
                    return response.getStatusCode() == null
                            ? 200
                            : response.getStatusCode().value();
                })
                .toList();
    }
}
