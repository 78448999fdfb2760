package io.limiter.spring.boot.actuate;

import static io.limiter.spring.boot.actuate.ManagedSite.read;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.boot.BootSite;
import io.micrometer.core.instrument.MeterRegistry;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Everything that an application shows follows the configuration that is in force. */
class ReplacedConfigurationTest {
    private static final String YAML = """
            limiter:
              policies:
                vote.limits: 1/1h
                gone.limits: 5/1h
              rules:
                pages: {path: /pages/*, limits: 9/1h}
            management.endpoints.web.exposure.include: ratelimits
            """;

    @TempDir
    Path folder;

    private static void replace(BootSite site, Map<String, String> properties) {
        LimiterConfig.Builder next = LimiterConfig.builder().properties("next", properties);
        site.bean(Limiter.class).replace(next.build());
    }

    @Test
    void theEndpointAndTheMeters() {
        try (BootSite site = BootSite.start(folder, YAML, ManagedSite.Site.class)) {
            MeterRegistry meters = site.bean(MeterRegistry.class);
            assertNull(meters.find("limiter.decisions").tag("policy", "fresh").meter());
            site.bean(Limiter.class).tryAcquire("vote", PartitionKey.of("192.0.2.1"), 1);

            replace(
                    site,
                    Map.of(
                            "limiter.policies.vote.limits", "7/1h",
                            "limiter.policies.vote.on-failure", "deny",
                            "limiter.policies.fresh.limits", "2/1d",
                            "limiter.rules.other.path", "/other/*",
                            "limiter.rules.other.key", "global",
                            "limiter.rules.other.policy", "fresh"));
            HttpResponse<String> report = site.call("GET", "/actuator/ratelimits");
            assertEquals(List.of("7/1h sliding-list name vote"), read(report, "$.policies.vote.limits"));
            assertEquals("deny", read(report, "$.policies.vote.onFailure"));
            assertEquals("configuration", read(report, "$.policies.fresh.definedBy"));
            assertTrue(!report.body().contains("gone"), report::body);
            assertEquals(1, (Integer) read(report, "$.rules.length()"));
            assertEquals("other", read(report, "$.rules[0].name"));

            HttpResponse<String> seen = site.call("GET", "/actuator/ratelimits/vote?key=192.0.2.1");
            assertEquals(6, (Integer) read(seen, "$.limits[0].remaining"), "what was used still counts");
            String note = read(site.call("GET", "/actuator/ratelimits/fresh?key=192.0.2.1"), "$.note");
            assertTrue(note.contains("theirs look like *"), note);
            assertEquals(
                    404,
                    site.call("GET", "/actuator/ratelimits/gone?key=192.0.2.1").statusCode());
            assertNotNull(
                    meters.find("limiter.decisions").tag("policy", "fresh").meter());
        }
    }

    @Test
    void aConfigurationThatIsRefusedHasNoMeters() {
        try (BootSite site = BootSite.start(folder, YAML, ManagedSite.Site.class)) {
            MeterRegistry meters = site.bean(MeterRegistry.class);
            // The annotated method needs its policy.
            assertThrows(RuntimeException.class, () -> replace(site, Map.of("limiter.policies.fresh.limits", "2/1d")));
            assertNull(meters.find("limiter.decisions").tag("policy", "fresh").meter());
            assertNotNull(meters.find("limiter.decisions").tag("policy", "vote").meter());
        }
    }

    @Test
    void whatADeniedCallIsToldAndWhereItsClientIsFound() {
        try (BootSite site = BootSite.start(folder, YAML, ManagedSite.Site.class)) {
            assertEquals(List.of(200, 429), site.statuses(2, "POST", "/votes", "X-Forwarded-For", "192.0.2.1"));
            HttpResponse<String> before = site.call("POST", "/votes", "X-Forwarded-For", "192.0.2.2");
            assertEquals(429, before.statusCode(), "nobody is trusted yet");
            assertTrue(before.headers().firstValue("RateLimit").isPresent());

            replace(
                    site,
                    Map.of(
                            "limiter.policies.vote.limits", "1/1h",
                            "limiter.client-ip.trusted-proxies", "127.0.0.0/8",
                            "limiter.http.headers", "x-ratelimit"));
            assertEquals(List.of(200, 429), site.statuses(2, "POST", "/votes", "X-Forwarded-For", "192.0.2.2"));
            HttpResponse<String> after = site.call("POST", "/votes", "X-Forwarded-For", "192.0.2.2");
            assertTrue(after.headers().firstValue("RateLimit").isEmpty());
            assertEquals("1", after.headers().firstValue("X-RateLimit-Limit").orElseThrow());
        }
    }
}
