package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.servlet.rejection.Rejection;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@code count-on} and {@code refund-on}: only some responses keep what was charged, and whatever ends otherwise keeps it. */
class CountOnTest {
    private static final String LOGIN = """
            limiter.rules.login.path = /*
            limiter.rules.login.limits = 5/1h
            limiter.rules.login.count-on = 401, 403, 5xx
            """;
    private static final int LIMIT = 5;

    @TempDir
    Path directory;

    private final AtomicInteger served = new AtomicInteger();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final RateLimiter limiter = RateLimiter.on(
            InProcessBackend.builder().timeSource(new ManualTime()).build());
    private LimiterConfig config = WebServer.config(LOGIN);
    private Container server;

    @AfterEach
    void stop() {
        server.close();
        limiter.close();
    }

    private void start(Container.Kind kind, String rules) {
        config = WebServer.config(rules);
        server = kind.make(directory).filter("limiter", WebServer.limiter(limiter, rules, Rejection::writeTo));
        server.servlet("/answer", (request, response) -> {
                    served.incrementAndGet();
                    response.setStatus(status(request));
                })
                .servlet("/error", (request, response) -> response.sendError(status(request)))
                .servlet("/throw", (request, response) -> {
                    throw new ServletException("on purpose");
                })
                .servlet(
                        "/forward",
                        (request, response) -> request.getRequestDispatcher("/answer?s=" + status(request))
                                .forward(request, response))
                .servlet("/include", (request, response) -> {
                    request.getRequestDispatcher("/answer?s=200").include(request, response);
                    response.setStatus(status(request));
                })
                .servlet("/async", (request, response) -> {
                    AsyncContext async = request.startAsync();
                    CompletableFuture.runAsync(() -> {
                        response.setStatus(status(request));
                        async.complete();
                    });
                })
                .servlet("/async-dispatch", (request, response) -> {
                    if (request.getAttribute("again") == null) {
                        request.setAttribute("again", true);
                        request.startAsync().dispatch("/async-dispatch");
                    } else if (request.getAttribute("third") == null) {
                        request.setAttribute("third", true);
                        AsyncContext async = request.startAsync();
                        CompletableFuture.runAsync(() -> async.dispatch("/answer"));
                    }
                })
                .servlet("/async-throw", (request, response) -> {
                    if (request.getAttribute("again") != null) {
                        throw new ServletException("on purpose");
                    }
                    request.setAttribute("again", true);
                    request.startAsync().dispatch("/async-throw");
                })
                .servlet("/async-timeout", (request, response) -> {
                    AsyncContext async = request.startAsync();
                    async.setTimeout(50);
                    async.addListener(new OnTimeout(() -> {
                        response.setStatus(200);
                        async.complete();
                    }));
                })
                .servlet("/stream", (request, response) -> {
                    byte[] some = new byte[64_000];
                    try {
                        for (int i = 0; i < 100_000; i++) {
                            response.getOutputStream().write(some);
                        }
                    } finally {
                        ended.countDown();
                    }
                })
                .servlet("/page", (request, response) -> response.getWriter().write("sorry"))
                .errorPage(404, "/page")
                .errorPage(500, "/page")
                .start();
    }

    private static int status(HttpServletRequest request) {
        return Integer.parseInt(request.getParameter("s"));
    }

    /** What the client has left. */
    private long left() {
        Policy policy = config.policies().values().iterator().next();
        return limiter.peek(policy, PartitionKey.of("127.0.0.1")).remaining();
    }

    private void assertKept(int kept, String path) {
        server.get(path);
        assertLeft(LIMIT - kept, path);
    }

    /** A container completes asynchronous work when the client has its response already. */
    private void assertLeft(long expected, String path) {
        for (int i = 0; i < 500 && left() != expected; i++) {
            server.get("/other");
        }
        assertEquals(expected, left(), path);
    }

    @ParameterizedTest
    @EnumSource
    void onlyTheseStatusesCount(Container.Kind kind) {
        start(kind, LOGIN.replace("path = /*", "path = /answer, /error"));
        assertKept(0, "/answer?s=200");
        assertKept(0, "/answer?s=302");
        assertKept(1, "/answer?s=401");
        assertKept(2, "/answer?s=403");
        assertKept(2, "/answer?s=404");
        assertKept(3, "/answer?s=503");
        assertKept(3, "/error?s=404");
        assertKept(4, "/error?s=401");
        assertKept(5, "/error?s=500");
        assertEquals(429, server.get("/answer?s=200").statusCode());
    }

    @ParameterizedTest
    @EnumSource
    void allButTheseStatusesCount(Container.Kind kind) {
        start(
                kind,
                LOGIN.replace("path = /*", "path = /answer").replace("count-on = 401, 403, 5xx", "refund-on = 304"));
        assertKept(0, "/answer?s=304");
        assertKept(1, "/answer?s=200");
        assertKept(2, "/answer?s=401");
        assertKept(2, "/answer?s=304");
    }

    @ParameterizedTest
    @EnumSource
    void anExceptionKeepsTheCharge(Container.Kind kind) {
        start(kind, LOGIN.replace("path = /*", "path = /throw").replace(", 5xx", ""));
        assertEquals(500, server.get("/throw").statusCode());
        assertLeft(LIMIT - 1, "/throw");
    }

    @ParameterizedTest
    @EnumSource
    void theStatusAtTheEndOfTheRequestDecides(Container.Kind kind) {
        start(kind, LOGIN.replace("path = /*", "path = /forward, /include"));
        assertKept(0, "/forward?s=200");
        assertKept(1, "/forward?s=401");
        // Neither the end of what was included nor its status is the end of the request.
        assertKept(2, "/include?s=403");
        assertKept(2, "/include?s=200");
    }

    @ParameterizedTest
    @EnumSource
    void theEndOfAsynchronousWorkDecides(Container.Kind kind) {
        start(kind, LOGIN.replace("path = /*", "path = /async, /async-dispatch"));
        assertKept(1, "/async?s=401");
        assertKept(1, "/async?s=200");
        assertKept(2, "/async-dispatch?s=403");
        assertKept(2, "/async-dispatch?s=200");
        assertKept(3, "/async?s=500");
    }

    @ParameterizedTest
    @EnumSource
    void aTimeoutAndAFailureOfAsynchronousWorkKeepTheCharge(Container.Kind kind) {
        start(
                kind,
                LOGIN.replace("path = /*", "path = /async-timeout, /async-throw")
                        .replace(", 5xx", ""));
        assertEquals(200, server.get("/async-timeout").statusCode());
        assertLeft(LIMIT - 1, "/async-timeout");
        assertEquals(500, server.get("/async-throw").statusCode());
        assertLeft(LIMIT - 2, "/async-throw");
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatDisconnectsKeepsTheCharge(Container.Kind kind) throws Exception {
        start(kind, LOGIN.replace("path = /*", "path = /stream"));
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.getOutputStream()
                    .write("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertTrue(socket.getInputStream().read() > 0);
        }
        assertTrue(ended.await(30, TimeUnit.SECONDS));
        assertLeft(LIMIT - 1, "/stream");
    }

    @ParameterizedTest
    @EnumSource
    void ofManyWrongPasswordsAtOnceAsManyReachTheApplicationAsTheLimitSays(Container.Kind kind) {
        start(kind, LOGIN.replace("path = /*", "path = /answer"));
        List<CompletableFuture<HttpResponse<String>>> answers = IntStream.range(0, 300)
                .mapToObj(i -> WebServer.CLIENT.sendAsync(
                        server.request("/answer?s=401").build(), HttpResponse.BodyHandlers.ofString()))
                .toList();
        long wrong = answers.stream()
                .filter(answer -> answer.join().statusCode() == 401)
                .count();
        assertEquals(LIMIT, wrong);
        assertEquals(LIMIT, served.get());
        assertEquals(0, left());
    }

    /** What is counted, is given back or is denied while others are on their way: at the end only the wrong ones are left. */
    @ParameterizedTest
    @EnumSource
    void theStateAfterwardsEqualsTheMatchingAnswers(Container.Kind kind) {
        start(kind, LOGIN.replace("path = /*", "path = /answer, /async").replace("5/1h", "300/1h"));
        List<CompletableFuture<HttpResponse<String>>> answers = IntStream.range(0, 300)
                .mapToObj(i -> HttpRequest.newBuilder(
                                server.request((i % 2 == 0 ? "/answer" : "/async") + "?s=" + (i % 3 == 0 ? 401 : 200))
                                        .build()
                                        .uri())
                        .build())
                .map(request -> WebServer.CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofString()))
                .toList();
        long wrong = answers.stream()
                .filter(answer -> answer.join().statusCode() == 401)
                .count();
        assertEquals(100, wrong);
        assertLeft(200, "300 at once");
    }

    @ParameterizedTest
    @EnumSource
    void aChargeThatAnotherRuleKeepsIsNotGivenBack(Container.Kind kind) {
        start(kind, """
                limiter.policies.shared.limits = 5/1h
                limiter.rules.login.path = /answer, /forward
                limiter.rules.login.policy = shared
                limiter.rules.login.count-on = 401
                limiter.rules.all.path = /answer
                limiter.rules.all.policy = shared
                """);
        assertKept(1, "/answer?s=200");
        // The other rule asks for the charge on the way.
        assertKept(2, "/forward?s=200");
    }

    @ParameterizedTest
    @EnumSource
    void aChargeThatSeveralRulesGiveBackIsGivenBackOnce(Container.Kind kind) {
        start(kind, """
                limiter.policies.shared.limits = 5/1h fixed
                limiter.rules.login.path = /answer, /forward
                limiter.rules.login.policy = shared
                limiter.rules.login.count-on = 401
                limiter.rules.all.path = /answer
                limiter.rules.all.policy = shared
                limiter.rules.all.refund-on = 200
                """);
        assertKept(1, "/answer?s=401");
        assertKept(1, "/forward?s=200");
        assertKept(2, "/forward?s=302");
    }

    @ParameterizedTest
    @EnumSource
    void aDeniedRequestGivesNothingBack(Container.Kind kind) {
        start(kind, LOGIN.replace("path = /*", "path = /answer") + "limiter.rules.login.on-failure = deny\n");
        assertEquals(List.of(401, 401, 401, 401, 401), server.statuses(LIMIT, "/answer?s=401"));
        assertEquals(List.of(429, 429), server.statuses(2, "/answer?s=200"));
        assertEquals(0, left());
    }

    /** A filter that goes on after the response seemed complete gives no free try. */
    @ParameterizedTest
    @EnumSource
    void aDispatchAfterTheEndIsChargedAgain(Container.Kind kind) {
        config = WebServer.config(LOGIN);
        server = kind.make(directory)
                .filter("outer", (request, response, chain) -> {
                    chain.doFilter(request, response);
                    if (request.getAttribute("again") == null) {
                        request.setAttribute("again", true);
                        request.startAsync().dispatch();
                    }
                })
                .filter("limiter", WebServer.limiter(limiter, LOGIN))
                .servlet(
                        "/",
                        (request, response) -> response.setStatus(request.getAttribute("again") == null ? 200 : 401))
                .start();
        server.get("/");
        assertEquals(LIMIT - 1, left());
    }

    private record OnTimeout(Runnable action) implements AsyncListener {
        @Override
        public void onTimeout(AsyncEvent event) throws IOException {
            action.run();
        }

        @Override
        public void onComplete(AsyncEvent event) {}

        @Override
        public void onError(AsyncEvent event) {}

        @Override
        public void onStartAsync(AsyncEvent event) {}
    }
}
