package io.limiter.spring.boot.actuate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Hold;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.spring.App;
import io.limiter.spring.RateLimitExceededException;
import io.limiter.spring.boot.BootSite;
import io.limiter.spring.boot.actuate.ManagedSite.Jobs;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The counters of an application as meters. */
class MetricsTest {
    private static final String[] VOTE = {
        "limiter.policies.vote.limits=3/1h", "management.endpoints.web.exposure.include=prometheus"
    };

    private static double decisions(MeterRegistry registry, String policy, String outcome, String source) {
        return registry.get("limiter.decisions")
                .tags("policy", policy, "outcome", outcome, "source", source)
                .functionCounter()
                .count();
    }

    private static Set<String> policies(MeterRegistry registry) {
        return registry.find("limiter.decisions").meters().stream()
                .map(meter -> meter.getId().getTag("policy"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void decisionsByPolicyOutcomeAndSourceAndNeverByClient() {
        try (BootSite site = BootSite.start(ManagedSite.Site.class, VOTE)) {
            MeterRegistry registry = site.bean(MeterRegistry.class);
            // From the start on, so that a rate knows of the first one.
            assertEquals(Set.of("Jobs.send", "vote", "watched"), policies(registry));
            assertEquals(0, decisions(registry, "vote", "denied", "in-process"));

            Jobs jobs = site.bean(Jobs.class);
            jobs.send("client-0", 1);
            jobs.send("client-0", 1);
            assertThrows(RateLimitExceededException.class, () -> jobs.send("client-0", 1));
            for (int i = 0; i < 5; i++) {
                site.call("POST", "/votes");
            }
            assertEquals(2, decisions(registry, "Jobs.send", "allowed", "in-process"));
            assertEquals(1, decisions(registry, "Jobs.send", "denied", "in-process"));
            assertEquals(3, decisions(registry, "vote", "allowed", "in-process"));
            assertEquals(2, decisions(registry, "vote", "denied", "in-process"));
            assertEquals(0, decisions(registry, "vote", "denied", "cached-denial"));

            // A policy that appears later gets its meters then.
            Policy late = Policy.of("late", Limit.fixedWindow(1_000, Duration.ofHours(1)));
            for (int i = 0; i < 100; i++) {
                site.bean(Limiter.class).rateLimiter().tryAcquire(late, PartitionKey.of("client-" + i), 1);
            }
            assertEquals(100, decisions(registry, "late", "allowed", "in-process"));
            assertEquals(4 * 11, registry.find("limiter.decisions").meters().size());

            String scraped = site.bean(PrometheusMeterRegistry.class).scrape();
            assertFalse(scraped.contains("client-"), scraped);
            assertTrue(scraped.contains("# TYPE limiter_decisions_total counter"), scraped);
            assertTrue(
                    scraped.lines()
                            .anyMatch(line -> line.startsWith("limiter_decisions_total{")
                                    && line.contains("outcome=\"allowed\"")
                                    && line.contains("policy=\"vote\"")
                                    && line.contains("source=\"in-process\"")
                                    && line.endsWith("} 3.0")),
                    scraped);
            assertTrue(scraped.contains("limiter_backend_failures_total{kind=\"late\"} 0.0"), scraped);
            assertTrue(scraped.contains("limiter_backend_servers{state=\"away\"} 0.0"), scraped);
        }
    }

    @Test
    void namesThatAreMadeUpMakeNoMoreMetersThanAThousandPolicies() {
        MeterRegistry registry = new SimpleMeterRegistry();
        try (Limiter limiter = Limiter.start(App.config("limiter.policies.vote.limits = 3/1h"))) {
            new LimiterMetrics(limiter).bindTo(registry);
            for (int i = 0; i < 1_100; i++) {
                limiter.rateLimiter()
                        .tryAcquire(
                                Policy.of("p" + i, Limit.fixedWindow(1, Duration.ofHours(1))),
                                PartitionKey.global(),
                                1);
            }
            // That of the configuration has its own without having decided anything, and one is for all others.
            assertEquals(1_000 + 1 + 1, policies(registry).size());
            assertTrue(decisions(registry, "*", "allowed", "in-process") >= 100);
        }
    }

    /** As meters, and as the endpoint shows them. */
    @Test
    void whatReservationsAndCallsInFlightHold() {
        MeterRegistry registry = new SimpleMeterRegistry();
        String config = """
                limiter.policies.calls.limits = 8 concurrent
                limiter.policies.tokens.limits = 100/1h fixed
                limiter.policies.tokens.holds = 10
                limiter.rules.chat.path = /chat
                limiter.rules.chat.policy = tokens
                limiter.rules.chat.cost = 30
                limiter.rules.chat.settle = attribute:used
                """;
        try (Limiter limiter = Limiter.start(App.config(config))) {
            new LimiterMetrics(limiter).bindTo(registry);
            Charge calls = new Charge(limiter.policies().get("calls"), PartitionKey.global(), 3);
            Charge tokens = new Charge(limiter.policies().get("tokens"), PartitionKey.global(), 30);
            Hold hold = limiter.rateLimiter().reserve(List.of(calls, tokens), Duration.ofMinutes(1));
            assertEquals(3, registry.get("limiter.in.flight").gauge().value());
            assertEquals(30, registry.get("limiter.held").gauge().value());
            String shown = Reports.overview(limiter, List.of(), Map.of()).toString();
            assertTrue(shown.contains("inFlight={held=3}"), shown);
            assertTrue(shown.contains("holds={most=10, held=30, "), shown);
            assertTrue(shown.contains("settle=attribute:used"), shown);
            limiter.rateLimiter().settle(hold, -1);
            limiter.rateLimiter().end(hold.decision());
            assertEquals(0, registry.get("limiter.in.flight").gauge().value());
            assertEquals(0, registry.get("limiter.held").gauge().value());
            assertEquals(
                    1,
                    registry.get("limiter.holds")
                            .tags("policy", "tokens", "event", "ignored")
                            .functionCounter()
                            .count());
        }
    }

    @Test
    void switchedOffAsAllMetersAre() {
        try (BootSite site = BootSite.start(
                ManagedSite.Site.class,
                "limiter.policies.vote.limits=3/1h",
                "management.metrics.enable.limiter=false")) {
            MeterRegistry registry = site.bean(MeterRegistry.class);
            assertEquals(
                    List.of(), List.copyOf(registry.find("limiter.decisions").meters()));
            assertFalse(registry.getMeters().isEmpty());
            assertEquals(200, site.call("POST", "/votes").statusCode());
        }
    }
}
