package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Repeats;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A permit of a call in flight is held until the response has ended, in whatever way, and is free once afterwards. */
class InFlightTest {
    private static final int LIMIT = 8;
    private static final int ROUNDS = Repeats.of(12, 1_000);
    private static final String RULES = """
            limiter.policies.calls.limits = 8 concurrent
            limiter.rules.api.path = /*
            limiter.rules.api.policy = calls
            """;

    /** What clients ask for in a round; all of them at once. */
    private static final List<String> PATHS = List.of(
            "/answer",
            "/error",
            "/throw",
            "/forward",
            "/include",
            "/async",
            "/async-dispatch",
            "/async-timeout",
            "/async-throw",
            "/stream");

    @TempDir
    Path directory;

    private final RateLimiter limiter = RateLimiters.on(InProcessBackend.create());
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private final CountDownLatch go = new CountDownLatch(1);
    private final ExecutorService clients = Executors.newCachedThreadPool();
    private LimiterConfig config = WebServer.config(RULES);
    private Container server;

    @AfterEach
    void stop() {
        clients.shutdownNow();
        if (server != null) {
            server.close();
        }
        limiter.close();
    }

    private void start(Container.Kind kind, String rules) {
        config = WebServer.config(rules);
        server = kind.make(directory)
                .filter("limiter", WebServer.limiter(limiter, rules))
                .servlet("/answer", this::answer)
                .servlet("/wait", (request, response) -> awaitGo())
                .servlet("/wait-async", (request, response) -> {
                    AsyncContext async = request.startAsync();
                    CompletableFuture.runAsync(
                            () -> {
                                awaitGo();
                                async.complete();
                            },
                            clients);
                })
                .servlet("/error", (request, response) -> response.sendError(503))
                .servlet("/throw", (request, response) -> {
                    throw new ServletException("on purpose");
                })
                .servlet(
                        "/forward",
                        (request, response) ->
                                request.getRequestDispatcher("/answer").forward(request, response))
                .servlet(
                        "/include",
                        (request, response) ->
                                request.getRequestDispatcher("/answer").include(request, response))
                .servlet("/async", (request, response) -> {
                    AsyncContext async = request.startAsync();
                    CompletableFuture.runAsync(async::complete);
                })
                .servlet(
                        "/async-dispatch",
                        (request, response) -> request.startAsync().dispatch("/answer"))
                .servlet(
                        "/async-timeout",
                        (request, response) -> request.startAsync().setTimeout(20))
                .servlet("/async-throw", (request, response) -> {
                    if (request.getAttribute("again") != null) {
                        throw new ServletException("on purpose");
                    }
                    request.setAttribute("again", true);
                    request.startAsync().dispatch("/async-throw");
                })
                .servlet("/stream", InFlightTest::stream)
                .start();
    }

    private void answer(HttpServletRequest request, HttpServletResponse response) {
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        Thread.yield();
        running.decrementAndGet();
    }

    private static void stream(HttpServletRequest request, HttpServletResponse response) throws IOException {
        // More than the buffers of a connection take.
        for (int i = 0; i < 100; i++) {
            response.getOutputStream().write(new byte[64_000]);
        }
    }

    private void awaitGo() {
        try {
            assertTrue(go.await(60, TimeUnit.SECONDS));
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private long inUse() {
        return LIMIT
                - limiter.tryAcquire(PermitRequest.of(config.policies().get("calls"), PartitionKey.of("127.0.0.1"), 0)
                                .withLook())
                        .remaining();
    }

    private void awaitNone() {
        Await.until(Duration.ofSeconds(30), "no call in flight", () -> inUse() == 0);
        assertEquals(0, limiter.monitor().inFlight("calls"));
    }

    private int status(String path) {
        return WebServer.CLIENT
                .sendAsync(server.request(path).build(), HttpResponse.BodyHandlers.discarding())
                .orTimeout(60, TimeUnit.SECONDS)
                .join()
                .statusCode();
    }

    /** A client that reads some of a response, slowly, and leaves or stays until its end. */
    private void read(boolean stays) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.setSoTimeout(30_000);
            socket.getOutputStream()
                    .write("GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            byte[] some = new byte[8_000];
            for (int i = 0; in.read(some) >= 0 && (stays || i < 3); i++) {
                Thread.yield();
            }
        } catch (IOException reset) {
            // The server may have closed it.
        }
    }

    @ParameterizedTest
    @EnumSource
    void everyWayToEndAtOnce(Container.Kind kind) {
        start(kind, RULES);
        int served = 0;
        for (int round = 0; round < ROUNDS; round++) {
            List<CompletableFuture<Integer>> all = new ArrayList<>();
            for (String path : PATHS) {
                all.add(WebServer.CLIENT
                        .sendAsync(server.request(path).build(), HttpResponse.BodyHandlers.discarding())
                        .handle((response, reset) -> response == null ? 0 : response.statusCode()));
            }
            for (boolean stays : List.of(true, false)) {
                all.add(CompletableFuture.supplyAsync(
                        () -> {
                            read(stays);
                            return 0;
                        },
                        clients));
            }
            assertTrue(inUse() <= LIMIT, "never above the limit");
            for (CompletableFuture<Integer> one : all) {
                int status = one.orTimeout(60, TimeUnit.SECONDS).join();
                served += status != 429 ? 1 : 0;
            }
        }
        awaitNone();
        assertTrue(most.get() <= LIMIT, most + " at once");
        assertTrue(served > ROUNDS * PATHS.size() / 4, served + " served");
        for (String path : PATHS) {
            assertTrue(status(path) != 429, path);
            awaitNone();
        }
    }

    @ParameterizedTest
    @EnumSource
    void itIsHeldUntilTheResponseHasEnded(Container.Kind kind) {
        start(kind, RULES);
        List<CompletableFuture<HttpResponse<Void>>> running = new ArrayList<>();
        for (int i = 0; i < LIMIT; i++) {
            running.add(WebServer.CLIENT.sendAsync(
                    server.request(i % 2 == 0 ? "/wait" : "/wait-async").build(),
                    HttpResponse.BodyHandlers.discarding()));
        }
        Await.until(Duration.ofSeconds(20), "all run", () -> inUse() == LIMIT);
        HttpResponse<String> denied = server.get("/answer");
        assertEquals(429, denied.statusCode());
        assertFalse(denied.headers().firstValue("Retry-After").isPresent(), denied.headers()::toString);
        assertEquals(
                "\"calls\";q=8;qu=\"concurrent-requests\"",
                denied.headers().firstValue("RateLimit-Policy").orElse(""));
        assertEquals("\"calls\";r=0", denied.headers().firstValue("RateLimit").orElse(""));
        assertTrue(denied.body().contains("Try again when another request has ended."), denied.body());
        go.countDown();
        running.forEach(one ->
                assertEquals(200, one.orTimeout(60, TimeUnit.SECONDS).join().statusCode()));
        awaitNone();
        assertEquals(200, server.get("/answer").statusCode());
    }

    /** A rate tells when to try again, whatever else denies. */
    @Test
    void besideARate() {
        start(Container.Kind.TOMCAT, RULES.replace("8 concurrent", "8 concurrent, 2/1h fixed"));
        List<CompletableFuture<HttpResponse<Void>>> running = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            running.add(WebServer.CLIENT.sendAsync(
                    server.request("/wait").build(), HttpResponse.BodyHandlers.discarding()));
        }
        Await.until(Duration.ofSeconds(20), "both run", () -> limiter.monitor().inFlight("calls") == 2);
        HttpResponse<String> denied = server.get("/answer");
        assertEquals(429, denied.statusCode());
        assertTrue(denied.headers().firstValue("Retry-After").isPresent(), denied.headers()::toString);
        assertEquals(2, limiter.monitor().inFlight("calls"), "a denied request holds nothing");
        go.countDown();
        running.forEach(one ->
                assertEquals(200, one.orTimeout(60, TimeUnit.SECONDS).join().statusCode()));
        Await.until(Duration.ofSeconds(20), "none", () -> limiter.monitor().inFlight("calls") == 0);
    }

    @ParameterizedTest
    @EnumSource
    void requestsThatWait(Container.Kind kind) {
        start(kind, RULES + "limiter.rules.api.wait = 30s\n");
        List<CompletableFuture<HttpResponse<Void>>> running = new ArrayList<>();
        for (int i = 0; i < LIMIT * 2; i++) {
            running.add(WebServer.CLIENT.sendAsync(
                    server.request(i % 2 == 0 ? "/wait" : "/wait-async").build(),
                    HttpResponse.BodyHandlers.discarding()));
        }
        Await.until(Duration.ofSeconds(20), "all run", () -> inUse() == LIMIT);
        go.countDown();
        running.forEach(one ->
                assertEquals(200, one.orTimeout(60, TimeUnit.SECONDS).join().statusCode()));
        awaitNone();
    }

    @ParameterizedTest
    @EnumSource
    void aShadowRuleHoldsAndDeniesNothing(Container.Kind kind) {
        start(kind, RULES + "limiter.rules.api.shadow = true\n");
        List<CompletableFuture<HttpResponse<Void>>> running = new ArrayList<>();
        for (int i = 0; i < LIMIT + 2; i++) {
            running.add(WebServer.CLIENT.sendAsync(
                    server.request("/wait").build(), HttpResponse.BodyHandlers.discarding()));
        }
        Await.until(Duration.ofSeconds(20), "some run", () -> inUse() == LIMIT);
        go.countDown();
        running.forEach(one ->
                assertEquals(200, one.orTimeout(60, TimeUnit.SECONDS).join().statusCode()));
        awaitNone();
    }

    /** All in one: rates that are given back, estimates, and calls in flight. */
    @ParameterizedTest
    @EnumSource
    void besideEstimatesAndOutcomes(Container.Kind kind) {
        start(kind, RULES + """
                limiter.policies.tokens.limits = 100/1h fixed
                limiter.policies.tokens.holds = 100
                limiter.rules.tokens.path = /*
                limiter.rules.tokens.policy = tokens
                limiter.rules.tokens.cost = 10
                limiter.rules.tokens.settle = attribute:used
                limiter.rules.failures.path = /*
                limiter.rules.failures.limits = 3/1h fixed
                limiter.rules.failures.count-on = 503
                """);
        for (String path : List.of("/answer", "/error", "/async", "/forward")) {
            assertTrue(status(path) != 429, path);
            awaitNone();
        }
        long left = limiter.tryAcquire(
                        PermitRequest.of(config.policies().get("tokens"), PartitionKey.of("127.0.0.1"), 0)
                                .withLook())
                .remaining();
        assertEquals(60, left);
    }
}
