package io.limiter.servlet;

import static java.net.http.HttpRequest.BodyPublishers.noBody;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.servlet.rejection.Rejection;
import io.limiter.servlet.rejection.RejectionHandler;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a denied client gets, from the filter or from a handler of the application. */
class RejectionHandlerTest extends Served {
    private static final String CLOSED =
            "limiter.rules.closed.path = /*\nlimiter.rules.closed.limits = 1/10s fixed, 0/1d name never\n";
    private static final String ONCE = "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 1/10s fixed\n";

    /** Answers in its own words. */
    public static final class Brief implements RejectionHandler {
        @Override
        public void reject(Rejection rejection, HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            response.setContentType("text/x-brief");
            response.getWriter()
                    .write(rejection.status() + " " + rejection.retryAfterSeconds() + " "
                            + rejection.violatedPolicies() + " "
                            + rejection.decision().allowed());
        }
    }

    /** Can't be made. */
    public static final class Failing implements RejectionHandler {
        public Failing() {
            throw new IllegalStateException("no template");
        }

        @Override
        public void reject(Rejection rejection, HttpServletRequest request, HttpServletResponse response) {}
    }

    /** Has no constructor without parameters. */
    public record Wanting(String what) implements RejectionHandler {
        @Override
        public void reject(Rejection rejection, HttpServletRequest request, HttpServletResponse response) {}
    }

    private HttpResponse<String> denied(String rules, RejectionHandler handler) {
        return denied("", rules, handler);
    }

    private HttpResponse<String> denied(String settings, String rules, RejectionHandler handler) {
        // Its time stands still, because answers tell when there is quota again.
        try (RateLimiter still = RateLimiters.on(
                        InProcessBackend.builder().timeSource(new ManualTime()).build());
                Limiter limiter = Limiter.of(WebServer.config(settings + rules), still)) {
            server = new WebServer(directory)
                    .filter(
                            "limiter",
                            RateLimitFilter.builder(limiter)
                                    .rejectionHandler(handler)
                                    .build())
                    .servlet("/", WebServer.Answer.text("served"))
                    .start();
            if (rules.equals(ONCE)) {
                assertEquals("served", server.get("/page").body());
            }
            return server.get("/page");
        }
    }

    @Test
    void aHandlerWritesTheBodyAndTheRestIsSet() {
        HttpResponse<String> denied = denied(ONCE, new Brief());
        assertEquals(429, denied.statusCode());
        assertEquals("429 OptionalLong[10] [r] false", denied.body());
        assertEquals(
                "text/x-brief",
                denied.headers().firstValue("Content-Type").orElseThrow().split(";", 2)[0]);
        assertEquals(List.of("no-store"), denied.headers().allValues("Cache-Control"));
        assertEquals(List.of("10"), denied.headers().allValues("Retry-After"));
        assertEquals(List.of("\"r\";r=0;t=10"), denied.headers().allValues("RateLimit"));
    }

    @Test
    void aHandlerMayTakeAnotherStatusAndTheStandardBody() {
        HttpResponse<String> denied = denied(ONCE, (rejection, request, response) -> {
            response.setStatus(420);
            rejection.writeTo(request, response);
        });
        assertEquals(420, denied.statusCode());
        assertTrue(denied.body().startsWith("{\"type\""), denied.body());
    }

    @Test
    void aHandlerThatWritesNothingSendsTheHead() {
        HttpResponse<String> denied = denied(ONCE, (rejection, request, response) -> {});
        assertEquals(429, denied.statusCode());
        assertEquals("", denied.body());
    }

    @ParameterizedTest
    @ValueSource(strings = {"runtime", "servlet", "io"})
    void aHandlerThatFailsIsReplacedAndNothingPasses(String kind) {
        HttpResponse<String> denied = denied(ONCE, (rejection, request, response) -> {
            response.setStatus(200);
            response.getWriter().write("half of a page");
            switch (kind) {
                case "runtime" -> throw new IllegalStateException("no template");
                case "servlet" -> throw new ServletException("no template");
                default -> throw new IOException("no template");
            }
        });
        assertEquals(429, denied.statusCode());
        assertEquals(List.of("10"), denied.headers().allValues("Retry-After"));
        assertTrue(denied.body().startsWith("{\"type\"") && denied.body().endsWith("[\"r\"]}"), denied.body());
        assertEquals(
                denied.body().length(),
                denied.headers().firstValueAsLong("Content-Length").orElseThrow());
    }

    @Test
    void nothingOfAFailedHandlersAnswerIsLeft() {
        HttpResponse<String> denied = denied("", ONCE, (rejection, request, response) -> {
            response.setHeader("Content-Encoding", "gzip");
            response.setHeader("RateLimit", "none");
            response.addHeader("ETag", "\"1\"");
            response.getWriter().write("half of a page");
            throw new IllegalStateException("no template");
        });
        assertEquals(429, denied.statusCode());
        assertEquals(List.of(), denied.headers().allValues("Content-Encoding"));
        assertEquals(List.of(), denied.headers().allValues("ETag"));
        assertEquals(List.of("\"r\";r=0;t=10"), denied.headers().allValues("RateLimit"));
        assertTrue(denied.body().startsWith("{\"type\"") && denied.body().endsWith("[\"r\"]}"), denied.body());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void onlyABrokenConnectionLeavesTheFilterAfterSomethingWasSent(boolean ofTheConnection) throws Exception {
        RateLimitFilter filter = WebServer.limiter(
                RateLimiters.on(InProcessBackend.create()),
                "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 0/1h\n",
                (rejection, request, response) -> {
                    response.getOutputStream().print("sent");
                    ((Sent) request.getAttribute("sent")).now();
                    if (ofTheConnection) {
                        throw new IOException("broken pipe");
                    }
                    throw new ServletException("no more");
                });
        FakeExchange exchange = new FakeExchange();
        exchange.attributes.put("sent", (Sent) () -> exchange.committed = true);
        AtomicInteger passed = new AtomicInteger();
        Executable call =
                () -> filter.doFilter(exchange.request(), exchange.response(), (in, out) -> passed.incrementAndGet());
        if (ofTheConnection) {
            assertThrows(IOException.class, call);
        } else {
            assertDoesNotThrow(call);
        }
        assertEquals(429, exchange.status);
        assertEquals("sent", exchange.body());
        assertEquals(0, passed.get());
    }

    private interface Sent {
        void now();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '"',
            value = {
                "com.example.Nobody | ClassNotFoundException",
                "java.lang.String | that implements io.limiter.servlet.rejection.RejectionHandler",
                "io.limiter.servlet.RejectionHandlerTest$Failing | can't be made (java.lang.IllegalStateException: no template)",
                "io.limiter.servlet.RejectionHandlerTest$Wanting | has a public constructor without parameters",
                "io.limiter.servlet.rejection.RejectionHandler | has a public constructor without parameters",
            })
    void aClassThatCantBeUsedStopsTheStart(String name, String words) throws IOException {
        Path webInf = Files.createDirectories(directory.resolve("web/WEB-INF"));
        Files.writeString(webInf.resolve("limiter.properties"), CLOSED);
        WebServer tomcat = new WebServer(directory)
                .servlet("/", WebServer.Answer.text("served"))
                .start();
        server = tomcat;
        InitParams config =
                new InitParams(tomcat.context().getServletContext(), "limiter.http.rejection-handler", name);
        String message = assertThrows(ServletException.class, () -> new RateLimitFilter().init(config))
                .getMessage();
        assertTrue(message.contains("RL-114 limiter.http.rejection-handler = " + name + ": "), message);
        assertTrue(message.contains(words), message);
    }

    private static Optional<String> header(HttpResponse<String> response, String name) {
        return response.headers().firstValue(name);
    }

    @Test
    void headGetsTheHeadersOnly() {
        server = new WebServer(directory)
                .filter("limiter", WebServer.limiter(limiter, ONCE))
                .servlet("/", WebServer.Answer.text("served"))
                .start();
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
        AtomicInteger served = new AtomicInteger();
        server = new WebServer(directory)
                .filter(
                        "limiter",
                        WebServer.limiter(
                                RateLimiters.on((charges, mode) ->
                                        CompletableFuture.failedFuture(new BackendException("away"))),
                                "limiter.rules.vote.path = /*\nlimiter.rules.vote.limits = 1/10s, 5/1h\n"
                                        + "limiter.rules.vote.on-failure = deny"))
                .servlet("/", (request, response) -> served.incrementAndGet())
                .start();

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
                        WebServer.limiter(time, "limiter.rules.closed.path = /*\nlimiter.rules.closed.limits = 0/1s"))
                .servlet("/", WebServer.Answer.text("served"))
                .start();

        HttpResponse<String> denied = server.get("/page");

        assertEquals(429, denied.statusCode());
        assertEquals(Optional.of("https://example.org"), header(denied, "Access-Control-Allow-Origin"));
        assertTrue(denied.body().startsWith("{\"type\""), denied.body());
        assertFalse(denied.body().contains("not meant"));
    }
}
