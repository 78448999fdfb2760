package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.kit.Await;
import jakarta.servlet.AsyncContext;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;

/** {@code count-on} and {@code refund-on}: only some responses keep what was charged, and whatever ends otherwise keeps it. */
class CountOnTest extends CountOnApp {

    private static final String BY_HEADER = """
            limiter.rules.login.path = /*
            limiter.rules.login.limits = 5/1h
            limiter.rules.login.count-on = header:Location=*error*, attribute:failed=true
            """;

    /** What the application decides: a form login answers with 302, whether it has failed or not. */
    @ParameterizedTest
    @EachContainer
    void anOutcomeOfTheApplicationCounts(Container.Kind kind) {
        config = WebServer.config(BY_HEADER);
        server = kind.make(directory)
                .filter("limiter", WebServer.limiter(limiter, BY_HEADER))
                .servlet("/redirect", (request, response) -> response.sendRedirect(request.getParameter("to")))
                .servlet(
                        "/forward",
                        (request, response) -> request.getRequestDispatcher("/redirect?to=/error")
                                .forward(request, response))
                .servlet("/several", (request, response) -> {
                    response.addHeader("Location", "/");
                    response.addHeader("Location", "/error");
                })
                .servlet("/attribute", (request, response) -> request.setAttribute("failed", request.getParameter("f")))
                .servlet("/committed", (request, response) -> {
                    response.flushBuffer();
                    response.setHeader("Location", "/error");
                })
                .servlet("/send-error", (request, response) -> {
                    response.setHeader("Location", "/error");
                    response.sendError(404);
                })
                .servlet("/async", (request, response) -> {
                    AsyncContext async = request.startAsync();
                    CompletableFuture.runAsync(() -> {
                        response.setStatus(302);
                        response.setHeader("Location", request.getParameter("to"));
                        async.complete();
                    });
                })
                .start();
        assertLeft(5, "/redirect?to=/");
        assertLeft(4, "/redirect?to=/login%3Ferror");
        assertLeft(3, "/forward");
        assertLeft(3, "/attribute?f=false");
        assertLeft(2, "/attribute?f=true");
        assertLeft(2, "/async?to=/");
        assertLeft(1, "/async?to=/error");
        assertLeft(0, "/several");
        assertEquals(
                429,
                WebServer.CLIENT
                        .sendAsync(server.request("/redirect?to=/").build(), HttpResponse.BodyHandlers.discarding())
                        .join()
                        .statusCode());
        limiter.reset(config.policies().get("login"), PartitionKey.of("127.0.0.1"));
        assertLeft(4, "/send-error");
        assertLeft(4, "/committed");
    }

    private void assertLeft(long left, String path) {
        server.get(path);
        Await.until(left + " left after " + path, () -> left() == left);
    }

    @Test
    void countOnThatCountsNothingIsLogged() throws Exception {
        start(
                Container.Kind.TOMCAT,
                LOGIN.replace("path = /*", "path = /answer").replace("5/1h", "500/1h"));
        try (LogText log = new LogText()) {
            server.statuses(99, "/answer?s=302");
            assertEquals(1, log.toString().split("RL-340", -1).length, log::toString);
            server.statuses(101, "/answer?s=302");
            assertEquals(2, log.toString().split("RL-340", -1).length, log::toString);
        }
        server.close();
        start(
                Container.Kind.TOMCAT,
                LOGIN.replace("path = /*", "path = /answer").replace("5/1h", "500/1h"));
        try (LogText log = new LogText()) {
            server.get("/answer?s=401");
            server.statuses(120, "/answer?s=302");
            assertEquals(1, log.toString().split("RL-340", -1).length, log::toString);
        }
    }

    @Test
    void refundOnThatRefundsEverythingIsLogged() throws Exception {
        start(
                Container.Kind.TOMCAT,
                LOGIN.replace("path = /*", "path = /answer")
                        .replace("5/1h", "500/1h")
                        .replace("count-on = 401, 403, 5xx", "refund-on = 2xx, 302"));
        try (LogText log = new LogText()) {
            server.statuses(120, "/answer?s=302");
            assertEquals(2, log.toString().split("RL-340", -1).length, log::toString);
        }
    }

    @ParameterizedTest
    @EachContainer
    void anExceptionKeepsTheCharge(Container.Kind kind) {
        start(kind, LOGIN.replace("path = /*", "path = /throw").replace(", 5xx", ""));
        assertEquals(500, assertKept(1, "/throw"));
    }

    @ParameterizedTest
    @EachContainer
    void theStatusAtTheEndOfTheRequestDecides(Container.Kind kind) {
        start(kind, LOGIN.replace("path = /*", "path = /forward, /include"));
        assertKept(0, "/forward?s=200");
        assertKept(1, "/forward?s=401");
        // Neither the end of what was included nor its status is the end of the request.
        assertKept(2, "/include?s=403");
        assertKept(2, "/include?s=200");
    }

    @ParameterizedTest
    @EachContainer
    void aTimeoutAndAFailureOfAsynchronousWorkKeepTheCharge(Container.Kind kind) {
        start(
                kind,
                LOGIN.replace("path = /*", "path = /async-timeout, /async-throw")
                        .replace(", 5xx", ""));
        assertEquals(200, assertKept(1, "/async-timeout"));
        assertEquals(500, assertKept(2, "/async-throw"));
    }

    @ParameterizedTest
    @EachContainer
    void aClientThatDisconnectsKeepsTheCharge(Container.Kind kind) throws Exception {
        start(kind, LOGIN.replace("path = /*", "path = /stream"));
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.getOutputStream()
                    .write("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertTrue(socket.getInputStream().read() > 0);
        }
        assertTrue(ended.await(30, TimeUnit.SECONDS));
        awaitCompleted(1);
        assertEquals(LIMIT - 1, left());
    }

    @ParameterizedTest
    @EachContainer
    void concurrentWrongPasswordsReachTheApplicationUpToTheLimit(Container.Kind kind) {
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

    @ParameterizedTest
    @EachContainer
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

    /** Whichever of them is the last one. */
    @ParameterizedTest
    @EachContainer
    void aChargeThatARuleBeforeKeepsIsNotGivenBack(Container.Kind kind) {
        start(kind, """
                limiter.policies.shared.limits = 5/1h
                limiter.rules.all.path = /answer
                limiter.rules.all.policy = shared
                limiter.rules.login.path = /answer, /forward
                limiter.rules.login.policy = shared
                limiter.rules.login.count-on = 401
                """);
        assertKept(1, "/answer?s=200");
        assertKept(2, "/forward?s=200");
    }

    /** Otherwise a client that first uses up the other rule could try any number of passwords: 429 is in no list. */
    @ParameterizedTest
    @EachContainer
    void aDenialOnTheWayKeepsWhatWasCharged(Container.Kind kind) {
        start(kind, """
                limiter.rules.login.path = /forward
                limiter.rules.login.limits = 5/1h
                limiter.rules.login.count-on = 401
                limiter.rules.rest.path = /answer
                limiter.rules.rest.limits = 1/1h
                """);
        assertEquals(200, server.get("/answer?s=200").statusCode());
        assertEquals(429, assertKept(1, "/forward?s=401"));
        assertEquals(429, assertKept(2, "/forward?s=200"));
    }

    @ParameterizedTest
    @EachContainer
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
    @EachContainer
    void aDeniedRequestGivesNothingBack(Container.Kind kind) {
        start(kind, LOGIN.replace("path = /*", "path = /answer") + "limiter.rules.login.on-failure = deny\n");
        assertEquals(List.of(401, 401, 401, 401, 401), server.statuses(LIMIT, "/answer?s=401"));
        assertEquals(List.of(429, 429), server.statuses(2, "/answer?s=200"));
        assertEquals(0, left());
    }

    /** A filter that goes on after the response seemed complete gives no free try. */
    @ParameterizedTest
    @EachContainer
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
}
