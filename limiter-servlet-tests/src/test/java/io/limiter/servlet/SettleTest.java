package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor.HoldCount;
import io.limiter.PartitionKey;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.lang.reflect.Field;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.RequestFacade;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code settle}: an estimate is reserved, and what the request has cost is charged once it has ended, whatever way. */
class SettleTest extends Served {
    private static final int LIMIT = 10_000;
    private static final String BY_ATTRIBUTE = """
            limiter.policies.tokens.limits = 10000/1h fixed
            limiter.policies.tokens.holds = 1000
            limiter.rules.chat.path = /*
            limiter.rules.chat.policy = tokens
            limiter.rules.chat.cost = header:X-Max-Tokens min 10 max 4000 default 500
            limiter.rules.chat.settle = attribute:tokens-used
            """;
    private static final String BY_HEADER =
            BY_ATTRIBUTE.replace("attribute:tokens-used", "response-header:X-Used-Tokens");

    private LimiterConfig config = WebServer.config(BY_ATTRIBUTE);

    private void start(Container.Kind kind, String rules) {
        config = WebServer.config(rules);
        server = new WaysToEnd()
                .on(kind.make(directory).filter("limiter", WebServer.limiter(limiter, rules)), SettleTest::use)
                .servlet("/left", (request, response) -> {
                    use(request, response);
                    response.getWriter().print(left());
                })
                .start();
    }

    /** What an application does that knows what a call has cost. */
    private static void use(HttpServletRequest request, HttpServletResponse response) {
        String used = request.getParameter("used");
        if (used != null) {
            request.setAttribute("tokens-used", used.matches("[0-9]+") ? (Object) Long.valueOf(used) : used);
            response.setHeader("X-Used-Tokens", used);
        }
    }

    private long left() {
        return Looks.left(limiter, config.policies().get("tokens"), PartitionKey.of("127.0.0.1"));
    }

    private void assertCosts(long cost, String path, String... headers) {
        long before = left();
        int status = server.get(path, headers).statusCode();
        assertTrue(status != 429, path);
        Await.until("settled", () -> limiter.monitor().held("tokens") == 0);
        assertEquals(cost, before - left(), path + " " + status);
    }

    /** What is held while the application runs. */
    private void assertEstimate(long estimate, String... headers) {
        long before = left();
        String left = server.get("/left?used=0", headers).body();
        assertEquals(before - estimate, Long.parseLong(left));
    }

    @ParameterizedTest
    @EachContainer
    void everyWayToEnd(Container.Kind kind) {
        start(kind, BY_ATTRIBUTE);
        for (String path : WaysToEnd.PATHS) {
            assertCosts(120, path + "?used=120");
            assertCosts(700, path + "?used=700");
            // Nobody knows: the estimate stays, or the default of the rule where a client has said less.
            assertCosts(500, path);
            assertCosts(500, path, "X-Max-Tokens", "10");
            limiter.reset(config.policies().get("tokens"), PartitionKey.of("127.0.0.1"));
        }
        assertEquals(0, limiter.monitor().held("tokens"));
    }

    /** In whatever part of a request, under whatever name. */
    @ParameterizedTest
    @EachContainer
    void whatAClientSendsIsNotItsCost(Container.Kind kind) {
        for (String rules : List.of(BY_ATTRIBUTE, BY_HEADER)) {
            start(kind, rules);
            for (String path : List.of("/answer", "/async", "/forward", "/async-dispatch")) {
                assertCosts(
                        500,
                        path + "?tokens-used=0&X-Used-Tokens=0",
                        "tokens-used",
                        "0",
                        "X-Used-Tokens",
                        "0",
                        "Cookie",
                        "tokens-used=0; X-Used-Tokens=0",
                        "Trailer",
                        "X-Used-Tokens");
            }
            assertCosts(500, "/answer;tokens-used=0;X-Used-Tokens=0");
            server.close();
            server = null;
        }
    }

    @ParameterizedTest
    @EachContainer
    void aClientThatDisconnects(Container.Kind kind) throws Exception {
        start(kind, BY_ATTRIBUTE);
        for (String path : List.of("/stream?endless&used=77", "/stream?endless")) {
            long before = left();
            try (Socket socket = server.connection("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n")) {
                assertTrue(socket.getInputStream().read() > 0);
            }
            long cost = path.endsWith("77") ? 77 : 4_000;
            Await.until(path, () -> before - left() == cost);
        }
    }

    /**
     * Each client says that it needs 1, reads nearly all of a stream and leaves, whatever the application makes of the failure. In
     * Jetty nobody sees one that it catches.
     */
    @ParameterizedTest
    @EachContainer
    void whoLeavesBeforeTheEndDoesNotChooseTheCost(Container.Kind kind) throws Exception {
        start(kind, BY_ATTRIBUTE);
        List<String> caught = List.of("/swallow", "/print", "/async-stream", "/async-print");
        for (String path : Stream.concat(
                        Stream.of("/stream", "/async-rethrow", "/stalled"),
                        caught.stream().filter(one -> kind == Container.Kind.TOMCAT))
                .toList()) {
            limiter.reset(config.policies().get("tokens"), PartitionKey.of("127.0.0.1"));
            int admitted = 0;
            for (int i = 0; i < 4; i++) {
                admitted += leave(path + "?endless");
            }
            assertEquals(3, admitted, path + ": 10 000 tokens, 4 000 of which each may have read");
            assertEquals(0, left(), path);
        }
    }

    /** Tomcat does this, and calls no listener, if the connection fails while the first dispatch returns. */
    @Test
    void aRequestThatTomcatRecyclesTooEarly() throws Exception {
        BlockingQueue<ServletRequest> returned = new LinkedBlockingQueue<>();
        config = WebServer.config(BY_ATTRIBUTE);
        server = Container.Kind.TOMCAT
                .make(directory)
                .filter("returned", (request, response, chain) -> {
                    chain.doFilter(request, response);
                    returned.add(request);
                })
                .filter("limiter", WebServer.limiter(limiter, BY_ATTRIBUTE))
                .servlet(
                        "/forgotten",
                        (request, response) -> request.startAsync().setTimeout(0))
                .start();
        try (Socket socket = server.connection("GET /forgotten HTTP/1.1\r\nHost: a\r\n\r\n")) {
            ServletRequest facade = returned.poll(60, TimeUnit.SECONDS);
            assertEquals(500, limiter.monitor().held("tokens"));
            Field inner = RequestFacade.class.getDeclaredField("request");
            inner.setAccessible(true);
            ((Request) inner.get(facade)).recycle();
            Await.until("it is checked", () -> limiter.monitor().held("tokens") == 0);
            assertEquals(LIMIT - 4_000, left());
        }
    }

    /** Whether it was admitted. */
    private int leave(String path) throws Exception {
        try (Socket socket = server.connection("GET " + path + " HTTP/1.1\r\nHost: a\r\nX-Max-Tokens: 1\r\n\r\n")) {
            int status = Container.status(socket);
            if (status == 429) {
                return 0;
            }
            assertEquals(200, status);
            if (path.startsWith("/stalled")) {
                // It does not leave, but reads no more.
                Await.until(path, () -> limiter.monitor().held("tokens") == 0);
            }
        }
        Await.until(path, () -> limiter.monitor().held("tokens") == 0);
        return 1;
    }

    /** A client that makes an application fail does not choose its cost either; nor by an estimate that the rule does not limit. */
    @ParameterizedTest
    @EachContainer
    void whatNobodyToldIsTheMostWithoutADefault(Container.Kind kind) {
        start(kind, BY_ATTRIBUTE.replace("min 10 max 4000 default 500", "max 2000"));
        assertCosts(2_000, "/answer", "X-Max-Tokens", "10");
        assertEstimate(200, "X-Max-Tokens", "10");
        assertEstimate(2_000);
        server.close();
        start(kind, BY_ATTRIBUTE.replace("min 10 max 4000 default 500", "max 2005"));
        assertEstimate(201, "X-Max-Tokens", "10");
        assertEstimate(2_005);
    }

    /** Forty clients at once say that they need 1, and each uses 4 000. */
    @ParameterizedTest
    @EachContainer
    void understatedEstimatesAreAFewCallsAtOnce(Container.Kind kind) {
        String rules = BY_ATTRIBUTE
                .replace("10000/1h fixed", "10000/1h fixed, 3 concurrent")
                .replace("min 10 ", "");
        config = WebServer.config(rules);
        Semaphore arrived = new Semaphore(0);
        Semaphore ends = new Semaphore(0);
        server = kind.serve(directory, WebServer.limiter(limiter, rules), (request, response) -> {
            arrived.release();
            ends.acquireUninterruptibly();
            request.setAttribute("tokens-used", 4_000);
        });
        List<CompletableFuture<Integer>> answers = IntStream.range(0, 40)
                .mapToObj(i -> server.later("/wait", "X-Max-Tokens", "1"))
                .toList();
        arrived.acquireUninterruptibly(3);
        Await.until(
                "the others are denied",
                () -> answers.stream().filter(CompletableFuture::isDone).count() == 37);
        assertEquals(3 * 400, limiter.monitor().held("tokens"));
        ends.release(40);
        Await.until("all settled", () -> limiter.monitor().held("tokens") == 0);
        assertEquals(
                List.of(200, 200, 200),
                answers.stream()
                        .map(CompletableFuture::join)
                        .filter(status -> status != 429)
                        .toList());
        assertEquals(0, arrived.availablePermits(), "12 000 of 10 000 at most");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aForwardToWhatCostsMoreIsOneCall(boolean redis) {
        limiter.close();
        limiter = Backends.limiter(redis);
        String front = BY_ATTRIBUTE
                .replace("10000/1h fixed", "10000/1h fixed, 1 concurrent")
                .replace("header:X-Max-Tokens min 10 max 4000 default 500", "10");
        String behind = front.substring(front.indexOf("limiter.rules"))
                .replace("rules.chat", "rules.behind")
                .replace("/*", "/behind")
                .replace("cost = 10", "cost = 700");
        config = WebServer.config(front + behind);
        List<Long> seen = new ArrayList<>();
        server = Container.Kind.TOMCAT.start(
                directory,
                List.of(WebServer.limiter(limiter, front + behind)),
                Map.of("/front", Answer.forward("/behind"), "/behind", (request, response) -> {
                    seen.add(limiter.monitor().inFlight("tokens"));
                    seen.add(limiter.monitor().held("tokens"));
                    request.setAttribute("tokens-used", 120);
                }));
        for (int i = 0; i < 2; i++) {
            assertEquals(200, server.status("/front"));
            Await.until("settled", () -> limiter.monitor().held("tokens") == 0);
        }
        assertEquals(List.of(1L, 700L, 1L, 700L), seen);
        Decision look = Looks.at(limiter, config.policies().get("tokens"), PartitionKey.of("127.0.0.1"));
        assertEquals(
                List.of(1L, LIMIT - 240L),
                look.outcomes().stream().map(LimitOutcome::remaining).toList());
    }

    @ParameterizedTest
    @EachContainer
    void estimatesOfTheApplicationStay(Container.Kind kind) throws Exception {
        start(kind, BY_ATTRIBUTE.replace("header:X-Max-Tokens min 10 max 4000 default 500", "50"));
        long before = left();
        leave("/stream?endless");
        assertEquals(50, before - left());
        assertCosts(50, "/throw");
    }

    @Test
    void estimatesOfClients() {
        start(Container.Kind.TOMCAT, BY_ATTRIBUTE);
        assertEstimate(500);
        assertEstimate(1_000, "X-Max-Tokens", "1000");
        assertEstimate(4_000, "X-Max-Tokens", "4001");
        assertEstimate(4_000, "X-Max-Tokens", "99999999999999999999999");
        for (String few : List.of("0", "00", "9")) {
            assertEstimate(10, "X-Max-Tokens", few);
        }
        for (String odd : List.of("-1", "1e3", "", "none", "1,000", "0x10")) {
            assertEstimate(4_000, "X-Max-Tokens", odd);
        }
        assertEstimate(4_000, "X-Max-Tokens", "10", "X-Max-Tokens", "10");
    }

    @Test
    void oddCostsLeaveTheEstimate() {
        start(Container.Kind.TOMCAT, BY_ATTRIBUTE);
        long before = limiter.monitor().holds("tokens", HoldCount.IGNORED);
        for (String odd : List.of("-1", "12.5", "NaN", "99999999999", "9999999999", "many")) {
            assertCosts(500, "/answer?used=" + odd);
        }
        assertEquals(before + 6, limiter.monitor().holds("tokens", HoldCount.IGNORED));
    }

    @Test
    void theFieldsShowWhatTheReservationLeft() {
        start(Container.Kind.TOMCAT, BY_ATTRIBUTE);
        for (String left : List.of("6000", "5980")) {
            String told = Container.field(server.get("/answer?used=20", "X-Max-Tokens", "4000"), "RateLimit");
            assertTrue(told.contains("r=" + left), told);
        }
    }

    @ParameterizedTest
    @EachContainer
    void whatDoesNotCountIsCancelled(Container.Kind kind) {
        start(kind, BY_ATTRIBUTE + "limiter.rules.chat.refund-on = 5xx\n");
        assertCosts(0, "/error?used=120");
        assertCosts(0, "/error");
        assertCosts(120, "/answer?used=120");
        // The container makes 500 of it later.
        assertCosts(500, "/throw");
    }

    /** All or nothing, and each by its own rule. */
    @ParameterizedTest
    @EachContainer
    void besideRulesWithoutSettle(Container.Kind kind) {
        start(kind, BY_ATTRIBUTE + """
                limiter.rules.calls.path = /*
                limiter.rules.calls.limits = 3/1h fixed
                limiter.rules.calls.refund-on = 5xx
                limiter.rules.again.path = /answer
                limiter.rules.again.policy = tokens
                limiter.rules.again.cost = 800
                limiter.rules.again.settle = attribute:tokens-used
                """);
        assertCosts(120, "/error?used=120");
        assertCosts(120, "/forward?used=120");
        assertCosts(900, "/answer?used=900");
        assertCosts(800, "/answer?used=many");
        assertEquals(429, server.get("/error?used=1").statusCode());
        assertEquals(LIMIT - 1_940, left());
    }

    /** As long as it is held it counts; what ends later is charged as well. */
    @Test
    void aResponseThatTakesLongerThanTheEstimateIsHeld() {
        config = WebServer.config(BY_ATTRIBUTE);
        server = Container.Kind.TOMCAT.serve(
                directory, WebServer.limiter(limiter, BY_ATTRIBUTE), (request, response) -> {
                    time.advance(Duration.ofMinutes(5).plusSeconds(30));
                    request.setAttribute("tokens-used", 9_000);
                });
        server.get("/slow");
        assertEquals(LIMIT - 9_000, left());
    }
}
