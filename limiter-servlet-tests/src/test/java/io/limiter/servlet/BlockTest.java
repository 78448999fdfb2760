package io.limiter.servlet;

import static io.limiter.servlet.Container.field;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.servlet.RuleSite.Container;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** A block over HTTP: what a client gets, which keys are blocked, and what startup logs. */
class BlockTest extends Sited {
    private static final String LOGIN = """
            limiter.rules.login.path = /login
            limiter.rules.login.limits = 2/1m fixed
            limiter.rules.login.block = 20/10m for 15m up to 24h
            limiter.http.headers = draft-10, x-ratelimit
            limiter.exempt.addresses = 203.0.113.0/24
            """;

    @ParameterizedTest
    @EachContainer
    void twentyDenialsBlock(Container container) {
        RuleSite site = site(container, LOGIN);
        HttpResponse<String> allowed = site.get("/login");
        assertEquals("\"login\";q=2;w=60", field(allowed, "RateLimit-Policy"), "a block that allows is no quota");
        assertEquals("\"login\";r=1;t=60", field(allowed, "RateLimit"));
        assertEquals("2", field(allowed, "X-RateLimit-Limit"));
        assertEquals("1", field(allowed, "X-RateLimit-Remaining"));
        assertEquals(1, site.reached(20, "/login"));
        HttpResponse<String> denied = site.get("/login");
        assertEquals("\"login\";q=2;w=60, \"block\";q=0", field(denied, "RateLimit-Policy"));
        assertEquals("\"login\";r=0;t=60, \"block\";r=0;t=900", field(denied, "RateLimit"));
        assertEquals("900", field(denied, "Retry-After"));
        assertEquals("0", field(denied, "X-RateLimit-Limit"));
        assertEquals("0", field(denied, "X-RateLimit-Remaining"));
        assertEquals(
                "{\"type\":\"https://iana.org/assignments/http-problem-types#abnormal-usage-detected\","
                        + "\"title\":\"Abnormal Usage Detected\",\"status\":429,\"detail\":\"Try again in 900 seconds.\","
                        + "\"violated-policies\":[\"login\",\"block\"]}",
                denied.body());
        assertEquals(1, site.rateLimiter.monitor().blocked("login"));
        assertEquals(2, site.reached(3, "/login", "Test-Address", "192.0.2.7"), "another address");
        assertEquals(100, site.reached(100, "/login", "Test-Address", "203.0.113.5"), "an exempt caller");
        site.time.advance(Duration.ofMinutes(10));
        HttpResponse<String> later = site.get("/login");
        assertEquals("300", field(later, "Retry-After"));
        assertEquals("\"login\";r=2, \"block\";r=0;t=300", field(later, "RateLimit"));
        assertTrue(later.body().contains("\"violated-policies\":[\"block\"]"), later.body());
    }

    private static boolean warns(String key) {
        return WebServer.config("""
                        limiter.rules.a.path = /a/{name}
                        limiter.rules.a.limits = 3/10s
                        limiter.rules.a.block = 20/10m for 15m up to 24h
                        limiter.rules.a.key =\s""" + key + "\n").settings().notes().stream()
                .anyMatch(line -> line.startsWith("RL-175 rule 'a'"));
    }

    @Test
    void whereAClientCanWriteTheKeyOfAnotherStartupSaysSo() {
        for (String key : List.of(
                "header:X-User",
                "cookie:id",
                "query:user",
                "path:name",
                "header:A + path:name",
                "global",
                "class:a.B")) {
            assertTrue(warns(key), key);
        }
        for (String key : List.of("ip", "user", "session", "bearer", "ip + header:X-User", "user + path:name")) {
            assertFalse(warns(key), key);
        }
    }
}
