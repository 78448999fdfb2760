package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.config.LimiterConfig;
import io.limiter.kit.Await;
import io.limiter.kit.Looks;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import java.io.IOException;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code count-on} and {@code refund-on}: only some responses keep what was charged, and whatever ends otherwise keeps it. */
class CountOnTest extends Served {
    private static final String LOGIN = """
            limiter.rules.login.path = /*
            limiter.rules.login.limits = 5/1h
            limiter.rules.login.count-on = 401, 403, 5xx
            """;
    private static final int LIMIT = 5;

    private final AtomicInteger completed = new AtomicInteger();
    private LimiterConfig config = WebServer.config(LOGIN);

    private static final String BY_HEADER = """
            limiter.rules.login.path = /*
            limiter.rules.login.limits = 5/1h
            limiter.rules.login.count-on = header:Location=*error*, attribute:failed=true
            """;

    private void start(Container.Kind kind, String rules) {
        config = WebServer.config(rules);
        Container filtered = kind.make(directory)
                .filter("outermost", this::outermost)
                .filter("limiter", WebServer.limiter(limiter, rules));
        server = new WaysToEnd()
                .on(filtered, Answer.status())
                .servlet("/including", (request, response) -> {
                    Answer.include("/answer?s=200").to(request, response);
                    Answer.status().to(request, response);
                })
                .servlet("/async-late", (request, response) -> {
                    AsyncContext async = request.startAsync();
                    async.setTimeout(1_000);
                    async.addListener(new WaysToEnd.Listener(
                            () -> {
                                response.setStatus(200);
                                async.complete();
                            },
                            () -> {}));
                })
                .servlet("/page", Answer.text("sorry"))
                .errorPage(500, "/page")
                .start();
    }

    /** What the client has left. */
    private long left() {
        Policy policy = config.policies().values().iterator().next();
        return Looks.left(limiter, policy, PartitionKey.of("127.0.0.1"));
    }

    /** Sends a request and looks when it has ended, which may be after its response. */
    private int assertKept(int kept, String path) {
        int before = completed.get();
        int status = server.get(path).statusCode();
        awaitCompleted(before + 1);
        assertEquals(LIMIT - kept, left(), path);
        return status;
    }

    private void awaitCompleted(int requests) {
        Await.until(requests + " requests", () -> completed.get() >= requests);
    }

    /** Counts the requests that have ended, after the limiter has. */
    private void outermost(ServletRequest request, ServletResponse response, FilterChain chain)
            throws IOException, ServletException {
        try {
            chain.doFilter(request, response);
        } finally {
            if (request.getDispatcherType() == DispatcherType.REQUEST) {
                if (request.isAsyncStarted()) {
                    request.getAsyncContext().addListener(new WaysToEnd.Listener(() -> {}, completed::incrementAndGet));
                } else {
                    completed.incrementAndGet();
                }
            }
        }
    }

    /** What the application decides: a form login answers with 302, whether it has failed or not. */
    @ParameterizedTest
    @EachContainer
    void anOutcomeOfTheApplicationCounts(Container.Kind kind) {
        config = WebServer.config(BY_HEADER);
        server = kind.make(directory)
                .filter("limiter", WebServer.limiter(limiter, BY_HEADER))
                .servlet("/redirect", (request, response) -> response.sendRedirect("/error"))
                .servlet("/forward", Answer.forward("/redirect"))
                .servlet("/several", (request, response) -> {
                    response.addHeader("Location", "/");
                    response.addHeader("Location", "/error");
                })
                .servlet("/committed", (request, response) -> {
                    response.flushBuffer();
                    response.setHeader("Location", "/error");
                })
                .servlet("/send-error", (request, response) -> {
                    response.setHeader("Location", "/error");
                    response.sendError(404);
                })
                .start();
        assertLeft(4, "/redirect");
        assertLeft(3, "/forward");
        assertLeft(2, "/several");
        assertLeft(1, "/send-error");
        assertLeft(1, "/committed");
    }

    private void assertLeft(long left, String path) {
        server.get(path);
        Await.until(left + " left after " + path, () -> left() == left);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            count-on = 401, 403, 5xx | 302  | 1
            count-on = 401, 403, 5xx | 401  | 0
            refund-on = 2xx, 302     | 302  | 1
            """)
    void outcomesThatKeepNothingAreLoggedAfterAHundred(String outcomes, String first, int logged) {
        start(
                Container.Kind.TOMCAT,
                "limiter.rules.login.path = /answer\nlimiter.rules.login.limits = 500/1h\nlimiter.rules.login."
                        + outcomes);
        try (LogText log = new LogText()) {
            server.get("/answer?s=" + first);
            server.statuses(98, "/answer?s=302");
            assertFalse(log.toString().contains("RL-340"), log::toString);
            server.statuses(101, "/answer?s=302");
            assertEquals(1 + logged, log.toString().split("RL-340", -1).length, log::toString);
        }
    }

    @ParameterizedTest
    @EachContainer
    void theStatusAtTheEndOfTheRequestDecides(Container.Kind kind) {
        start(kind, LOGIN.replace("path = /*", "path = /forward, /including"));
        assertKept(0, "/forward?s=200");
        assertKept(1, "/forward?s=401");
        // Neither the end of what was included nor its status is the end of the request.
        assertKept(2, "/including?s=403");
        assertKept(2, "/including?s=200");
    }

    @ParameterizedTest
    @EachContainer
    void anExceptionATimeoutAndAFailureOfAsynchronousWorkKeepTheCharge(Container.Kind kind) {
        start(kind, LOGIN.replace(", 5xx", ""));
        assertEquals(200, assertKept(1, "/async-late"));
        assertEquals(500, assertKept(2, "/async-throw"));
        assertEquals(500, assertKept(3, "/throw"));
    }

    @ParameterizedTest
    @EachContainer
    void aClientThatDisconnectsKeepsTheCharge(Container.Kind kind) throws Exception {
        start(kind, LOGIN.replace("path = /*", "path = /stream"));
        try (Socket socket = server.connection("GET /stream?endless HTTP/1.1\r\nHost: a\r\n\r\n")) {
            assertTrue(socket.getInputStream().read() > 0);
        }
        awaitCompleted(1);
        assertEquals(LIMIT - 1, left());
    }

    /** Whichever of them is the last one. */
    @ParameterizedTest
    @EachContainer
    void aChargeThatAnotherRuleKeepsIsNotGivenBack(Container.Kind kind) {
        String login = """
                limiter.rules.login.path = /answer, /forward
                limiter.rules.login.policy = shared
                limiter.rules.login.count-on = 401
                """;
        String all = "limiter.rules.all.path = /answer\nlimiter.rules.all.policy = shared\n";
        for (String rules : List.of(login + all, all + login)) {
            start(kind, "limiter.policies.shared.limits = 5/1h\n" + rules);
            assertKept(1, "/answer?s=200");
            // The other rule asks for the charge on the way.
            assertKept(2, "/forward?s=200");
            server.close();
            limiter.reset(config.policies().get("shared"), PartitionKey.of("127.0.0.1"));
        }
        server = null;
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
