package io.limiter.spring.boot.actuate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.kit.Await;
import io.micrometer.common.KeyValue;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** What a tracer gets to know of decisions: policy, outcome and source in the span that they belong to. */
class SpansTest {
    private static final Map<String, String> ALLOWED = attributes("pages", "allowed");
    private static final Map<String, String> DENIED = attributes("pages", "denied");

    private ManagedSite site;
    private Spans spans;

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
    @Import(ManagedSite.Site.class)
    static class Traced {
        @Bean
        Spans spans() {
            return new Spans();
        }
    }

    private static Map<String, String> attributes(String policy, String outcome) {
        return Map.of("limiter.policy", policy, "limiter.outcome", outcome, "limiter.source", "in-process");
    }

    @BeforeEach
    void start() {
        site = ManagedSite.start(
                Traced.class,
                "limiter.policies.vote.limits=1/1h",
                "limiter.rules.pages.path=/pages/*",
                "limiter.rules.pages.limits=1/1h",
                "limiter.rules.voting.path=/votes",
                "limiter.rules.voting.limits=100/1h",
                // Its spans would be the current ones where methods are called.
                "management.observations.enable.spring.security=false",
                "management.endpoints.web.exposure.include=prometheus");
        spans = site.bean(Spans.class);
    }

    @AfterEach
    void stop() {
        site.close();
    }

    /** Of the requests so far, one map each; a span ends a moment after the client has its answer. */
    private List<Map<String, String>> ended(int count) {
        Await.until(Duration.ofSeconds(60), "the spans end", () -> spans.ended.size() >= count);
        return List.copyOf(spans.ended);
    }

    @Test
    void requestsThatARuleChargesAndNoOthers() {
        assertEquals(200, site.call("GET", "/pages/one").statusCode());
        assertEquals(List.of(ALLOWED), ended(1));
        assertEquals(429, site.call("GET", "/pages/one?token=client-7").statusCode());
        assertEquals(List.of(ALLOWED, DENIED), ended(2));
        site.call("GET", "/nothing");
        assertEquals(List.of(ALLOWED, DENIED, Map.of()), ended(3));
    }

    /** Labels that only some requests have would make the registry drop the metric of all others. */
    @Test
    void theMetricOfRequestsKeepsItsLabels() {
        for (String path : List.of("/nothing", "/pages/one", "/pages/one", "/nothing")) {
            site.call("GET", path);
        }
        ended(4);
        String scraped = site.bean(PrometheusMeterRegistry.class).scrape();
        assertTrue(scraped.contains("http_server_requests_seconds_count{"), scraped);
        assertEquals(
                4,
                scraped.lines()
                        .filter(line -> line.startsWith("http_server_requests_seconds_count{"))
                        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                        .sum(),
                scraped);
        assertFalse(scraped.contains("limiter_policy") || scraped.contains("limiter_outcome"), scraped);
    }
}
