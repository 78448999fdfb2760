package io.limiter.spring.boot.actuate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.http.internal.HttpRules;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.config.LimitText;
import io.micrometer.observation.Observation;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.http.server.reactive.observation.ServerRequestObservationContext;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;

/** The span of a request of WebFlux has what the filter decided. */
class ExchangeAttributesTest {
    private final Map<String, Object> attributes = new HashMap<>();
    private final Observation.Context context = new ServerRequestObservationContext(
            MockServerHttpRequest.get("/").build(), new MockServerHttpResponse(), attributes);

    private String outcome() {
        var found = SpanAttributes.ofExchange(context).getHighCardinalityKeyValue("limiter.outcome");
        return found == null ? null : found.getValue();
    }

    @Test
    void areThoseOfTheDecision() {
        assertNull(outcome());
        try (RateLimiter limiter = RateLimiters.on(InProcessBackend.create())) {
            Policy policy = Policy.of("vote", LimitText.parseAll("0/1h"));
            Decision denial = limiter.tryAcquire(policy, PartitionKey.global(), 1);
            attributes.put(HttpRules.DECISION, denial);
        }
        assertEquals("denied", outcome());
        assertEquals(
                "vote", context.getHighCardinalityKeyValue("limiter.policy").getValue());
    }
}
