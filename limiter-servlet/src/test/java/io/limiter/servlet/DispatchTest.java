package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.servlet.WebServer.Answer;
import io.limiter.servlet.rejection.RejectionHandler;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One request is counted once, however often the container brings it to the filter. */
class DispatchTest {
    @TempDir
    Path directory;

    private WebServer server;

    @AfterEach
    void stop() {
        server.close();
    }

    private void start(String rules) {
        start(WebServer.limiter(new ManualTime(), rules), 1);
    }

    private void start(RateLimitFilter filter, int times) {
        server = new WebServer(directory);
        for (int i = 0; i < times; i++) {
            server.filter("limiter" + i, filter);
        }
        server.servlet("/", Answer.text("ok"))
                .servlet("/forward", (request, response) -> {
                    request.setAttribute(RequestDispatcher.INCLUDE_REQUEST_URI, request.getParameter("included"));
                    request.getRequestDispatcher(to(request)).forward(request, response);
                })
                .servlet(
                        "/include-forward",
                        (request, response) ->
                                request.getRequestDispatcher("/forward").include(request, response))
                .servlet(
                        "/include-twice",
                        (request, response) ->
                                request.getRequestDispatcher("/include-forward").include(request, response))
                .servlet("/forward-after-include", (request, response) -> {
                    request.getRequestDispatcher("/page").include(request, response);
                    request.getRequestDispatcher("/forward").forward(request, response);
                })
                .servlet("/forward-writer", (request, response) -> {
                    response.getWriter().write("dropped by the forward");
                    request.getRequestDispatcher(to(request)).forward(request, response);
                })
                .servlet("/include", (request, response) -> {
                    request.getRequestDispatcher(to(request)).include(request, response);
                    request.getRequestDispatcher(to(request)).include(request, response);
                })
                .servlet("/login", (request, response) -> {
                    request.getSession(true);
                    request.getRequestDispatcher("/page").include(request, response);
                })
                .servlet("/login-forward", (request, response) -> {
                    request.getSession(true);
                    request.getRequestDispatcher("/page").forward(request, response);
                })
                .servlet("/login-async", (request, response) -> {
                    request.getSession(true);
                    request.startAsync().dispatch("/page");
                })
                .servlet("/async", (request, response) -> {
                    if (request.getAttribute("again") == null) {
                        request.setAttribute("again", true);
                        request.startAsync().dispatch(to(request));
                    } else {
                        response.getWriter().write("again");
                    }
                })
                .servlet("/fail", (request, response) -> response.sendError(500))
                .servlet("/error-page", Answer.text("sorry"))
                .errorPage(500, "/error-page")
                .start();
    }

    private static String to(HttpServletRequest request) {
        String to = request.getParameter("to");
        return to == null ? "/page" : to;
    }

    private static final String TWO = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 2/1h";

    @Test
    void aForwardIsCountedOnce() {
        start(TWO);
        assertEquals(List.of(200, 200, 429), server.statuses(3, "/forward"));
    }

    @Test
    void includesAreCountedOnce() {
        start(TWO);
        assertEquals("okok", server.get("/include").body());
        assertEquals(List.of(200, 429), server.statuses(2, "/include"));
    }

    @Test
    void anAsyncDispatchIsCountedOnce() {
        start(TWO);
        assertEquals("again", server.get("/async?to=/async").body());
        assertEquals(List.of(200, 429), server.statuses(2, "/async"));
    }

    @Test
    void anErrorPageIsCountedOnce() {
        start(TWO);
        HttpResponse<String> failed = server.get("/fail");
        assertEquals(500, failed.statusCode());
        assertEquals("sorry", failed.body());
        assertEquals(List.of(500, 429), server.statuses(2, "/fail"));
    }

    @Test
    void anErrorPageNeverTurnsIntoADenial() {
        start("limiter.rules.r.path = /error-page\nlimiter.rules.r.limits = 0/1h");
        assertEquals(List.of(500, 500), server.statuses(2, "/fail"));
        assertEquals(429, server.get("/error-page").statusCode());
    }

    @Test
    void anIncludeNeverCuts() {
        start("limiter.rules.r.path = /page\nlimiter.rules.r.limits = 0/1h");
        assertEquals("okok", server.get("/include").body());
    }

    @Test
    void aForwardInsideAnIncludeNeverCuts() {
        start("limiter.rules.r.path = /page, /async\nlimiter.rules.r.limits = 0/1h");
        assertEquals("ok", server.get("/include-forward").body());
        assertEquals("ok", server.get("/include-twice").body());
        assertEquals(429, server.get("/async").statusCode());
    }

    /** What an application may do for a library that asks for the attribute. */
    @Test
    void theAttributeOfAnIncludeExemptsNoForward() {
        start("limiter.rules.r.path = /page\nlimiter.rules.r.limits = 0/1h");
        assertEquals(429, server.get("/forward?included=claimed").statusCode());
        assertEquals(429, server.get("/forward-after-include").statusCode());
    }

    @Test
    void anIncludeChargesNothingAlsoWhenTheKeyHasChangedMeanwhile() {
        start("limiter.rules.all.path = /*\nlimiter.rules.all.limits = 1/1h\nlimiter.rules.all.key = session");
        HttpResponse<String> login = server.get("/login");
        assertEquals("ok", login.body());
        String session = login.headers().firstValue("Set-Cookie").orElseThrow().split(";", -1)[0];

        // The login was charged to the address, which stood in for the session, so the session's quota is whole.
        assertEquals(List.of(200, 429), server.statuses(2, "/page", "Cookie", session));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/login-forward", "/login-async"})
    void aRuleChargesARequestOnceAlsoWhenItsKeyChangesOnTheWay(String login) {
        start("limiter.rules.all.path = /*\nlimiter.rules.all.limits = 1/1h\nlimiter.rules.all.key = session");
        HttpResponse<String> answer = server.get(login);
        assertEquals("ok", answer.body());
        String session = answer.headers().firstValue("Set-Cookie").orElseThrow().split(";", -1)[0];

        // Charged to the address, which stood in for the session that there was none of yet.
        assertEquals(List.of(200, 429), server.statuses(2, "/page", "Cookie", session));
        assertEquals(429, server.get("/page").statusCode());
    }

    @Test
    void twoRulesOfOnePolicyChargeARequestOnce() {
        start("""
                limiter.policies.p.limits = 2/1h
                limiter.rules.front.path = /forward
                limiter.rules.front.policy = p
                limiter.rules.behind.path = /page
                limiter.rules.behind.policy = p
                """);
        assertEquals(List.of(200, 200, 429), server.statuses(3, "/forward"));
    }

    @Test
    void aFilterThatIsMappedTwiceCountsOnce() {
        start(WebServer.limiter(new ManualTime(), TWO), 2);
        assertEquals(List.of(200, 200, 429), server.statuses(3, "/page"));
    }

    /** What answers a denial may be under the rule that denies. */
    @Test
    void aRejectionHandlerMayForward() {
        RejectionHandler forwarding = (rejection, request, response) ->
                request.getRequestDispatcher("/page").forward(request, response);
        RateLimiter limiter = RateLimiters.on(
                InProcessBackend.builder().timeSource(new ManualTime()).build());
        start(WebServer.limiter(limiter, TWO.replace("2/1h", "0/1h"), forwarding), 1);
        HttpResponse<String> denied = server.get("/other");
        assertEquals(429, denied.statusCode());
        assertEquals("ok", denied.body());
    }

    @Test
    void twoFiltersCountApart() {
        server = new WebServer(directory)
                .filter("one", WebServer.limiter(new ManualTime(), TWO.replace("2/1h", "3/1h")))
                .filter("other", WebServer.limiter(new ManualTime(), TWO))
                .servlet("/", Answer.text("ok"))
                .start();
        assertEquals(List.of(200, 200, 429, 429), server.statuses(4, "/page"));
    }

    @Test
    void aForwardIntoThePathOfAnotherRuleIsCountedByThatRule() {
        start("""
                limiter.rules.front.path = /forward
                limiter.rules.front.limits = 9/1h
                limiter.rules.behind.path = /page
                limiter.rules.behind.limits = 1/1h
                """);
        assertEquals(200, server.get("/forward").statusCode());

        HttpResponse<String> denied = server.get("/forward");
        assertEquals(429, denied.statusCode());
        assertTrue(denied.body().endsWith("\"violated-policies\":[\"behind\"]}"), denied.body());
        assertEquals(429, server.get("/page").statusCode());
        assertEquals(429, server.get("/async").statusCode());
    }

    @Test
    void aDenialReplacesWhatAServletHasWrittenBeforeItForwards() {
        start("limiter.rules.r.path = /page\nlimiter.rules.r.limits = 0/1h");

        HttpResponse<String> denied = server.get("/forward-writer");

        assertEquals(429, denied.statusCode());
        assertTrue(denied.body().startsWith("{\"type\""), denied.body());
        assertEquals(
                denied.body().length(),
                denied.headers().firstValueAsLong("Content-Length").orElseThrow());
    }

    /** A rule that fails: what the rules before it have counted is denied, and its error page is the answer. */
    @Test
    void theErrorPageOfARuleThatFailsMayForward() throws Exception {
        RateLimiter limiter = RateLimiters.on(
                InProcessBackend.builder().timeSource(new ManualTime()).build());
        RateLimitFilter filter = RateLimitFilter.builder(Limiter.of(WebServer.config(TWO), limiter))
                .rule(request -> {
                    if (request.getRequestURI().equals("/x")) {
                        throw new IllegalStateException("a fault in a rule");
                    }
                    return null;
                })
                .build();
        server = new WebServer(directory)
                .filter("limiter", filter)
                .servlet("/", Answer.text("ok"))
                .servlet(
                        "/error-page",
                        (request, response) ->
                                request.getRequestDispatcher("/page").forward(request, response))
                .errorPage(500, "/error-page");
        server.start();
        assertEquals(List.of(500, 500, 500), server.statuses(3, "/x"));
        assertEquals("ok", server.get("/x").body());
        assertEquals(List.of(200, 200, 429), server.statuses(3, "/page"));
    }
}
