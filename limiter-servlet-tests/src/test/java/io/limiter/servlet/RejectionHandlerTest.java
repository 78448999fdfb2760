package io.limiter.servlet;

import static io.limiter.servlet.Container.field;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.servlet.rejection.Rejection;
import io.limiter.servlet.rejection.RejectionHandler;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a denied client gets, from the filter or from a handler of the application. */
class RejectionHandlerTest extends Served {
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

    private void start(Filter... filters) {
        server = Container.Kind.TOMCAT.start(directory, List.of(filters), Map.of("/", WebServer.Answer.text("served")));
    }

    private HttpResponse<String> denied(RejectionHandler handler) {
        start(WebServer.limiter(limiter, ONCE, handler));
        assertEquals("served", server.get("/page").body());
        return server.get("/page");
    }

    @Test
    void aHandlerWritesTheBodyAndTheRestIsSet() {
        HttpResponse<String> denied = denied(new Brief());
        assertEquals(429, denied.statusCode());
        assertEquals("429 OptionalLong[10] [r] false", denied.body());
        assertEquals("text/x-brief", field(denied, "Content-Type").split(";", 2)[0]);
        assertEquals("no-store", field(denied, "Cache-Control"));
        assertEquals("10", field(denied, "Retry-After"));
        assertEquals("\"r\";r=0;t=10", field(denied, "RateLimit"));
    }

    @Test
    void aHandlerMayTakeAnotherStatusAndTheStandardBody() {
        HttpResponse<String> denied = denied((rejection, request, response) -> {
            response.setStatus(420);
            rejection.writeTo(request, response);
        });
        assertEquals(420, denied.statusCode());
        assertTrue(denied.body().startsWith("{\"type\""), denied.body());
    }

    @Test
    void aHandlerThatWritesNothingSendsTheHead() {
        HttpResponse<String> denied = denied((rejection, request, response) -> {});
        assertEquals(429, denied.statusCode());
        assertEquals("", denied.body());
    }

    @Test
    void aHandlerThatFailsIsReplacedAndNothingOfItsAnswerIsLeft() throws Exception {
        RejectionHandler failing = (rejection, request, response) -> {
            response.setStatus(200);
            response.setHeader("Content-Encoding", "gzip");
            response.setHeader("RateLimit", "none");
            response.addHeader("ETag", "\"1\"");
            response.getWriter().write("half of a page");
            switch (request.getParameter("by")) {
                case "runtime" -> throw new IllegalStateException("no template");
                case "servlet" -> throw new ServletException("no template");
                default -> throw new IOException("no template");
            }
        };
        start(WebServer.limiter(limiter, ONCE, failing));
        assertEquals("served", server.get("/page").body());
        assertEquals(List.of("RL-322"), FindingsTest.codes(() -> {
            for (String by : List.of("runtime", "servlet", "io")) {
                HttpResponse<String> denied = server.get("/page?by=" + by);
                assertEquals(429, denied.statusCode(), by);
                assertEquals("10", field(denied, "Retry-After"), by);
                assertEquals("none", field(denied, "Content-Encoding"), by);
                assertEquals("none", field(denied, "ETag"), by);
                assertEquals("\"r\";r=0;t=10", field(denied, "RateLimit"), by);
                assertTrue(
                        denied.body().startsWith("{\"type\"") && denied.body().endsWith("[\"r\"]}"), denied.body());
                assertEquals("" + denied.body().length(), field(denied, "Content-Length"), by);
            }
        }));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void onlyABrokenConnectionLeavesTheFilterAfterSomethingWasSent(boolean ofTheConnection) throws Exception {
        RateLimitFilter filter = WebServer.limiter(
                RateLimiters.on(InProcessBackend.create()),
                "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 0/1h\n",
                (rejection, request, response) -> {
                    response.getOutputStream().print("sent");
                    ((Runnable) request.getAttribute("sent")).run();
                    if (ofTheConnection) {
                        throw new IOException("broken pipe");
                    }
                    throw new ServletException("no more");
                });
        FakeExchange exchange = new FakeExchange();
        exchange.attributes.put("sent", (Runnable) () -> exchange.committed = true);
        AtomicInteger passed = new AtomicInteger();
        FindingsTest.Step call =
                () -> filter.doFilter(exchange.request(), exchange.response(), (in, out) -> passed.incrementAndGet());
        if (ofTheConnection) {
            assertThrows(IOException.class, call::run);
        } else {
            assertEquals(List.of("RL-322"), FindingsTest.codes(call));
        }
        assertEquals(429, exchange.status);
        assertEquals("sent", exchange.body());
        assertEquals(0, passed.get());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            limiter.http.rejection-handler | com.example.Nobody | ClassNotFoundException
            limiter.http.rejection-handler | java.lang.String | that implements io.limiter.servlet.rejection.RejectionHandler
            limiter.http.rejection-handler | io.limiter.servlet.RejectionHandlerTest$Failing | can't be made (java.lang.IllegalStateException: no template)
            limiter.http.rejection-handler | io.limiter.servlet.RejectionHandlerTest$Wanting | has a public constructor without parameters
            limiter.http.rejection-handler | io.limiter.servlet.rejection.RejectionHandler | has a public constructor without parameters
            limiter.rules.r.cost | java.lang.String | can't be made
            limiter.rules.planned.plan | com.example.Nobody | can't be made
            """)
    void aClassThatCantBeUsedFailsTheStart(String key, String name, String words) {
        String rules = ONCE + """
                limiter.plans.free.limits = 1/1h
                limiter.rules.planned.path = /planned
                limiter.rules.planned.key = header:K
                limiter.rules.planned.default-plan = free
                """ + (key.endsWith("plan") ? "" : "limiter.rules.planned.plan = header:P\n") + key
                + " = " + name;
        Limiter configured = Limiter.of(WebServer.config(rules), limiter);
        String message = assertThrows(IllegalArgumentException.class, () -> new RateLimitFilter(configured))
                .getMessage();
        assertTrue(message.startsWith("RL-114 " + key + " = " + name + ": "), message);
        assertTrue(message.contains(words), message);
    }

    @Test
    void headGetsTheHeadersOnly() {
        start(WebServer.limiter(limiter, ONCE));
        server.get("/page");
        HttpResponse<String> get = server.get("/page");
        HttpResponse<String> head = server.send("HEAD", "/page", "");
        assertEquals(429, head.statusCode());
        assertEquals("", head.body());
        for (String name : List.of("Retry-After", "Content-Type", "Content-Length", "Cache-Control")) {
            assertEquals(field(get, name), field(head, name));
        }
    }

    @Test
    void anOutageIs503() {
        AtomicInteger served = new AtomicInteger();
        RateLimiter down =
                RateLimiters.on((charges, mode) -> CompletableFuture.failedFuture(new BackendException("away")));
        start(
                WebServer.limiter(down, ONCE.replace("fixed", "fixed, 5/1h") + "limiter.rules.r.on-failure = deny\n"),
                (request, response, chain) -> served.incrementAndGet());
        HttpResponse<String> denied = server.get("/page");
        assertEquals(503, denied.statusCode());
        assertEquals("1", field(denied, "Retry-After"));
        assertEquals("no-store", field(denied, "Cache-Control"));
        assertEquals("application/problem+json", field(denied, "Content-Type"));
        assertEquals(
                "{\"type\":\"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity\","
                        + "\"title\":\"Temporary Reduced Capacity\",\"status\":503,\"detail\":\"Try again in 1 second.\","
                        + "\"violated-policies\":[\"r\"]}",
                denied.body());
        assertEquals(0, served.get());
    }

    @Test
    void whatAnEarlierFilterHasSetStays() {
        Filter early = (request, response, chain) -> {
            ((HttpServletResponse) response).setHeader("Access-Control-Allow-Origin", "https://example.org");
            response.getWriter().write("not meant for a denied client");
            chain.doFilter(request, response);
        };
        start(early, WebServer.limiter(limiter, ONCE.replace("1/10s", "0/10s")));
        HttpResponse<String> denied = server.get("/page");
        assertEquals(429, denied.statusCode());
        assertEquals("https://example.org", field(denied, "Access-Control-Allow-Origin"));
        assertTrue(denied.body().startsWith("{\"type\""), denied.body());
        assertFalse(denied.body().contains("not meant"));
    }
}
