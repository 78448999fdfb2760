package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** One request is counted once, however often the container brings it to the filter. */
class DispatchTest extends Served {
    private static final String TWO = "limiter.rules.all.path = /*\nlimiter.rules.all.limits = 2/1h";

    private void start(Container.Kind kind, RateLimitFilter filter) {
        server = kind.make(directory)
                .filter("limiter", filter)
                .servlet("/", Answer.text("ok"))
                .servlet("/forward", (request, response) -> {
                    request.setAttribute(RequestDispatcher.INCLUDE_REQUEST_URI, request.getParameter("included"));
                    request.getRequestDispatcher(to(request)).forward(request, response);
                })
                .servlet("/include-forward", Answer.include("/forward"))
                .servlet("/include-twice", Answer.include("/include-forward"))
                .servlet("/forward-after-include", (request, response) -> {
                    request.getRequestDispatcher("/page").include(request, response);
                    request.getRequestDispatcher("/forward").forward(request, response);
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

    /** No include and no page for an error is cut. An application may set the attribute of an include for a library that asks for it. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            /*            | 2/1h | /forward                  | ok    | 200 200 429
            /*            | 2/1h | /include                  | okok  | 200 200 429
            /*            | 2/1h | /async?to=/async          | again | 200 200 429
            /*            | 2/1h | /fail                     | sorry | 500 500 429
            /error-page   | 0/1h | /fail                     | sorry | 500 500
            /error-page   | 0/1h | /error-page               | -     | 429
            /page         | 0/1h | /include                  | okok  | 200
            /page, /async | 0/1h | /include-forward          | ok    | 200
            /page, /async | 0/1h | /include-twice            | ok    | 200
            /page, /async | 0/1h | /async                    | -     | 429
            /page         | 0/1h | /forward?included=claimed | -     | 429
            /page         | 0/1h | /forward-after-include    | -     | 429
            """)
    void aRequestIsCountedOnceAndCutWhereItMayBe(
            String path, String limits, String target, @Nullable String body, String statuses) {
        String rules = "limiter.rules.r.path = " + path + "\nlimiter.rules.r.limits = " + limits;
        for (Container.Kind kind : Container.Kind.values()) {
            start(kind, WebServer.limiter(new ManualTime(), rules));
            List<String> found = new ArrayList<>();
            for (int i = 0; i < statuses.split(" ").length; i++) {
                HttpResponse<String> answer = server.get(target);
                found.add("" + answer.statusCode());
                assertTrue(i > 0 || body == null || body.equals(answer.body()), answer.body());
            }
            assertEquals(statuses, String.join(" ", found), kind.toString());
            server.close();
        }
        server = null;
    }

    @ParameterizedTest
    @ValueSource(strings = {"/login", "/login-forward", "/login-async"})
    void aRuleChargesARequestOnceAlsoWhenItsKeyChangesOnTheWay(String login) {
        String rules = TWO.replace("2/1h", "1/1h") + "\nlimiter.rules.all.key = session";
        start(Container.Kind.TOMCAT, WebServer.limiter(limiter, rules));
        HttpResponse<String> answer = server.get(login);
        assertEquals("ok", answer.body());

        // Charged to the address, which stood in for the session that there was none of yet.
        assertEquals(List.of(200, 429), server.statuses(2, "/page", "Cookie", Container.cookie(answer)));
        assertEquals(429, server.get("/page").statusCode());
    }

    /** Each of its own limiter; a forward finds the charges of both again. */
    @Test
    void filtersOfTwoLimitersCountApart() {
        server = new WebServer(directory)
                .filter("one", WebServer.limiter(new ManualTime(), TWO.replace("2/1h", "3/1h")))
                .filter("other", WebServer.limiter(new ManualTime(), TWO))
                .servlet("/", Answer.text("ok"))
                .servlet("/forward", Answer.forward("/page"))
                .start();
        assertEquals(List.of(200, 200, 429, 429), server.statuses(4, "/forward"));
    }

    /** A rule that fails: what the rules before it have counted is denied, and its error page is the answer. */
    @Test
    void theErrorPageOfARuleThatFailsMayForward() throws Exception {
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
                .servlet("/error-page", Answer.forward("/page"))
                .errorPage(500, "/error-page");
        server.start();
        assertEquals(List.of(500, 500, 500), server.statuses(3, "/x"));
        assertEquals("ok", server.get("/x").body());
        assertEquals(List.of(200, 200, 429), server.statuses(3, "/page"));
    }
}
