package io.limiter.servlet;

import static java.net.http.HttpRequest.BodyPublishers.noBody;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.ManualTime;
import io.limiter.engine.RateLimiters;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RejectionTest {
    @TempDir
    Path directory;

    private final ManualTime time = new ManualTime();
    private final AtomicInteger served = new AtomicInteger();
    private WebServer server;

    @AfterEach
    void stop() {
        server.close();
    }

    private void start(Filter limiter) {
        server = new WebServer(directory).filter("limiter", limiter);
        serve();
    }

    private void start(String rules) {
        start(WebServer.limiter(time, rules));
    }

    private void serve() {
        server.servlet("/", (request, response) -> {
                    served.incrementAndGet();
                    response.getWriter().write("ok");
                })
                .start();
    }

    private static Optional<String> header(HttpResponse<String> response, String name) {
        return response.headers().firstValue(name);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 10, Try again in 10 seconds.",
        "1, 10, Try again in 10 seconds.",
        "8999999, 2, Try again in 2 seconds.",
        "9000000, 1, Try again in 1 second.",
        "9000001, 1, Try again in 1 second.",
        "9999999, 1, Try again in 1 second."
    })
    void retryAfterIsRoundedUp(long laterMicros, String seconds, String detail) {
        start("limiter.rules.vote.path = /*\nlimiter.rules.vote.limits = 1/10s");
        server.get("/page");
        time.advanceMicros(laterMicros);

        HttpResponse<String> denied = server.get("/page");

        assertEquals(Optional.of(seconds), header(denied, "Retry-After"));
        assertTrue(denied.body().contains("\"detail\":\"" + detail + "\""), denied.body());
        time.advanceMicros(10_000_000 - laterMicros);
        assertEquals(200, server.get("/page").statusCode());
    }

    @Test
    void allLimitsThatDenyAreNamedAndTheLongestWaitCounts() {
        start("""
                limiter.policies.export.limits = 1/10s, 1/1m, 9/1h
                limiter.rules.a.path = /*
                limiter.rules.a.policy = export
                """);
        server.get("/page");

        HttpResponse<String> denied = server.get("/page");

        assertEquals(Optional.of("60"), header(denied, "Retry-After"));
        assertTrue(denied.body().endsWith("\"violated-policies\":[\"export-10s\",\"export-1m\"]}"), denied.body());
    }

    @Test
    void headGetsTheHeadersOnly() {
        start("limiter.rules.vote.path = /*\nlimiter.rules.vote.limits = 1/10s");
        server.get("/page");
        HttpResponse<String> get = server.get("/page");

        HttpResponse<String> head = WebServer.send(server.request("/page").method("HEAD", noBody()));

        assertEquals(429, head.statusCode());
        assertEquals("", head.body());
        for (String name : List.of("Retry-After", "Content-Type", "Content-Length", "Cache-Control")) {
            assertEquals(header(get, name), header(head, name));
        }
    }

    @Test
    void anOutageIs503() {
        start(WebServer.limiter(
                RateLimiters.on((charges, mode) -> CompletableFuture.failedFuture(new BackendException("away"))),
                "limiter.rules.vote.path = /*\nlimiter.rules.vote.limits = 1/10s, 5/1h\n"
                        + "limiter.rules.vote.on-failure = deny"));

        HttpResponse<String> denied = server.get("/page");

        assertEquals(503, denied.statusCode());
        assertEquals(Optional.of("1"), header(denied, "Retry-After"));
        assertEquals(Optional.of("no-store"), header(denied, "Cache-Control"));
        assertEquals(Optional.of("application/problem+json"), header(denied, "Content-Type"));
        assertEquals(
                "{\"type\":\"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity\","
                        + "\"title\":\"Temporary Reduced Capacity\",\"status\":503,\"detail\":\"Try again in 1 second.\","
                        + "\"violated-policies\":[\"vote\"]}",
                denied.body());
        assertEquals(0, served.get());
    }

    @Test
    void whatAnEarlierFilterHasSetStays() {
        server = new WebServer(directory)
                .filter("early", (request, response, chain) -> {
                    assertEquals(DispatcherType.REQUEST, request.getDispatcherType());
                    ((jakarta.servlet.http.HttpServletResponse) response)
                            .setHeader("Access-Control-Allow-Origin", "https://example.org");
                    response.getWriter().write("not meant for a denied client");
                    chain.doFilter(request, response);
                })
                .filter(
                        "limiter",
                        WebServer.limiter(time, "limiter.rules.closed.path = /*\nlimiter.rules.closed.limits = 0/1s"));
        serve();

        HttpResponse<String> denied = server.get("/page");

        assertEquals(429, denied.statusCode());
        assertEquals(Optional.of("https://example.org"), header(denied, "Access-Control-Allow-Origin"));
        assertTrue(denied.body().startsWith("{\"type\""), denied.body());
        assertFalse(denied.body().contains("not meant"));
    }
}
