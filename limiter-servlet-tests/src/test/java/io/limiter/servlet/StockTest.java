package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;

/** A stock over HTTP: a denial contains the reason, and a time to try again only before the stock opens. */
class StockTest extends Served {
    private static final String RULES = """
            limiter.rules.seats.path = /page
            limiter.rules.seats.key = global
            limiter.rules.seats.member = header:X-User
            limiter.rules.seats.limits = \\
                2 allotment each 1 opens 2026-11-27T10:00:00+01:00 closes 2026-11-27T11:00:00+01:00
            """;

    @ParameterizedTest
    @EachContainer
    void aDenialTellsWhy(Container.Kind kind) {
        time.setMicros(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.parse("2026-11-27T08:59:30Z")));
        RateLimitFilter filter = WebServer.limiter(limiter, RULES);
        server = kind.start(directory, List.of(filter), Map.of("/page", (request, response) -> {}));
        HttpResponse<String> early = server.get("/page", "X-User", "ann");
        assertEquals(429, early.statusCode());
        assertEquals("30", Container.field(early, "Retry-After"));
        assertTells(early, "not-open");
        time.advance(Duration.ofSeconds(30));
        HttpResponse<String> sold = server.get("/page", "X-User", "ann");
        assertEquals(200, sold.statusCode());
        assertEquals("\"seats\";q=2", Container.field(sold, "RateLimit-Policy"));
        assertDenied(server.get("/page", "X-User", "ann"), "already-had");
        assertEquals(200, server.get("/page", "X-User", "bob").statusCode());
        assertDenied(server.get("/page", "X-User", "eve"), "sold-out");
        assertExplained(filter, "ann", "already-had");
        assertExplained(filter, "eve", "sold-out");
        time.advance(Duration.ofHours(1));
        assertExplained(filter, "eve", "closed");
        assertDenied(server.get("/page", "X-User", "eve"), "closed");
    }

    private static void assertExplained(RateLimitFilter filter, String user, String reason) {
        Explanation explained =
                filter.explain(RequestSample.of("GET", "/page", "127.0.0.1").withHeaders("X-User: " + user));
        assertEquals(429, explained.status());
        assertEquals("never", explained.retryAfter());
        assertTrue(explained.reason().endsWith(": " + reason), explained.reason());
        assertEquals(reason, explained.rules().get(0).charge().limits().get(0).reason());
    }

    private static void assertDenied(HttpResponse<String> answer, String reason) {
        assertEquals(429, answer.statusCode());
        assertEquals("none", Container.field(answer, "Retry-After"));
        assertTells(answer, reason);
    }

    private static void assertTells(HttpResponse<String> answer, String reason) {
        assertTrue(
                answer.body().contains("\"violated-policies\":[\"seats\"],\"reason\":\"" + reason + "\""),
                answer.body());
    }
}
