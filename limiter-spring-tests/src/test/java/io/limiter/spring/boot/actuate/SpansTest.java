package io.limiter.spring.boot.actuate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.http.internal.HttpRules;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.config.LimitText;
import io.limiter.kit.Await;
import io.limiter.spring.boot.BootSite;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.server.reactive.observation.ServerRequestObservationContext;
import org.springframework.mock.http.server.reactive.MockServerHttpRequest;
import org.springframework.mock.http.server.reactive.MockServerHttpResponse;

/** What a tracer gets to know of decisions: policy, outcome and source in the span that they belong to. */
class SpansTest {
    private static final Map<String, String> ALLOWED = attributes("pages", "allowed");
    private static final Map<String, String> DENIED = attributes("pages", "denied");

    /** Replaces the bridge to a tracer: it gets each observation at its end, with all key values. */
    static final class Spans implements ObservationHandler<Observation.Context> {
        private final List<Map<String, String>> ended = new CopyOnWriteArrayList<>();

        @Override
        public void onStop(Observation.Context context) {
            Map<String, String> ours = new TreeMap<>();
            for (KeyValue one : context.getAllKeyValues()) {
                if (one.getKey().startsWith("limiter.")) {
                    ours.put(one.getKey(), one.getValue());
                }
            }
            if (context.getName().equals("http.server.requests")) {
                ended.add(ours);
            }
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({ManagedSite.Site.class, Spans.class})
    static class Traced {}

    private static Map<String, String> attributes(String policy, String outcome) {
        return Map.of("limiter.policy", policy, "limiter.outcome", outcome, "limiter.source", "in-process");
    }

    private static BootSite start() {
        return BootSite.start(
                Traced.class,
                "limiter.policies.vote.limits=1/1h",
                "limiter.rules.pages.path=/pages/*",
                "limiter.rules.pages.limits=1/1h",
                // Its spans would be the current ones where methods are called.
                "management.observations.enable.spring.security=false",
                "management.endpoints.web.exposure.include=prometheus");
    }

    /** Of the requests so far, one map each; a span ends a moment after the client has its answer. */
    private static List<Map<String, String>> ended(BootSite site, int count) {
        List<Map<String, String>> ended = site.bean(Spans.class).ended;
        Await.until("the spans end", () -> ended.size() >= count);
        return List.copyOf(ended);
    }

    /** Labels that only some requests have would make the registry drop the metric of all others. */
    @Test
    void spansOfRequestsThatARuleChargesAndNoLabelsOfTheirMetric() {
        try (BootSite site = start()) {
            assertEquals(404, site.call("GET", "/nothing").statusCode());
            assertEquals(List.of(Map.of()), ended(site, 1));
            assertEquals(200, site.call("GET", "/pages/one").statusCode());
            assertEquals(List.of(Map.of(), ALLOWED), ended(site, 2));
            assertEquals(429, site.call("GET", "/pages/one?token=client-7").statusCode());
            assertEquals(List.of(Map.of(), ALLOWED, DENIED), ended(site, 3));
            PrometheusMeterRegistry metrics = site.bean(PrometheusMeterRegistry.class);
            Await.until("all are counted", () -> requests(metrics.scrape()) == 3);
            String scraped = metrics.scrape();
            assertFalse(scraped.contains("limiter_policy") || scraped.contains("limiter_outcome"), scraped);
        }
    }

    private static double requests(String scraped) {
        return scraped.lines()
                .filter(line -> line.startsWith("http_server_requests_seconds_count{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    /** A request of WebFlux has no filter of servlets: its attributes are read from the observation. */
    @Test
    void requestsOfWebFlux() {
        Map<String, Object> attributes = new HashMap<>();
        Observation.Context context = new ServerRequestObservationContext(
                MockServerHttpRequest.get("/").build(), new MockServerHttpResponse(), attributes);
        assertNull(SpanAttributes.ofExchange(context).getHighCardinalityKeyValue("limiter.outcome"));
        try (RateLimiter limiter = RateLimiters.on(InProcessBackend.create())) {
            Policy policy = Policy.of("vote", LimitText.parseAll("0/1h"));
            attributes.put(HttpRules.DECISION, limiter.tryAcquire(policy, PartitionKey.global(), 1));
        }
        Map<String, String> found = new TreeMap<>();
        SpanAttributes.ofExchange(context)
                .getHighCardinalityKeyValues()
                .forEach(one -> found.put(one.getKey(), one.getValue()));
        assertEquals(attributes("vote", "denied"), found);
    }
}
