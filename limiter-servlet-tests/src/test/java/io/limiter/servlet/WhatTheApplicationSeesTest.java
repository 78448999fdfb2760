package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.net.http.HttpResponse;
import java.security.Principal;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;

/** The decision as an attribute of the request, several forms of response fields, and rules before and after authentication. */
class WhatTheApplicationSeesTest extends Served {
    /** What the application writes about the decision that it finds. */
    private static final Answer SEEN = (request, response) -> {
        Object found = request.getAttribute(RateLimitFilter.DECISION);
        response.getWriter()
                .write(
                        found instanceof Decision decision
                                ? decision.charges().get(0).policy().name() + " "
                                        + decision.outcomes().get(0).remaining()
                                : "none");
    };

    @ParameterizedTest
    @EachContainer
    void theDecisionIsAnAttribute(Container.Kind container) {
        String rules = """
                limiter.rules.page.path = /page
                limiter.rules.page.limits = 2/1h
                limiter.rules.other.path = /other, /async
                limiter.rules.other.limits = 9/1h
                """;
        server = container.start(
                directory,
                List.of(WebServer.limiter(
                        limiter, rules, (rejection, request, response) -> SEEN.to(request, response))),
                Map.of(
                        "/page",
                        SEEN,
                        "/free",
                        SEEN,
                        "/other",
                        Answer.forward("/page"),
                        "/async",
                        (request, response) -> {
                            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                                SEEN.to(request, response);
                            } else {
                                request.startAsync().dispatch();
                            }
                        }));
        assertEquals("none", server.get("/free").body());
        assertEquals("page 1", server.get("/page").body());
        assertEquals("other 8", server.get("/async").body(), "an async dispatch keeps it");
        assertEquals("page 0", server.get("/other").body(), "the forward was charged last");
        HttpResponse<String> denied = server.get("/page");
        assertEquals(429, denied.statusCode());
        assertEquals("page 0", denied.body());
    }

    /** Authenticates ann and refuses everybody else, as a security filter does. */
    private static final Filter AUTHENTICATION = (request, response, chain) -> {
        HttpServletRequest http = (HttpServletRequest) request;
        if (!"ann".equals(http.getHeader("Login"))) {
            ((HttpServletResponse) response).setStatus(401);
            return;
        }
        chain.doFilter(
                new HttpServletRequestWrapper(http) {
                    @Override
                    public Principal getUserPrincipal() {
                        return () -> "ann";
                    }
                },
                response);
    };

    /** A filter before the authentication, and one behind it. */
    private void startAroundAuthentication(Container.Kind container, String rules) {
        Limiter configured = Limiter.of(WebServer.config(rules), limiter);
        server = container.start(
                directory,
                List.of(
                        RateLimitFilter.builder(configured)
                                .rulesBeforeAuthentication()
                                .build(),
                        AUTHENTICATION,
                        RateLimitFilter.builder(configured)
                                .rulesAfterAuthentication()
                                .build()),
                Map.of("/", Answer.text("ok")));
    }

    @ParameterizedTest
    @EachContainer
    void rulesAreDecidedBeforeOrAfterAuthentication(Container.Kind container) {
        startAroundAuthentication(container, """
                limiter.rules.tries.path = /*
                limiter.rules.tries.limits = 6/1h
                limiter.rules.user.path = /*
                limiter.rules.user.limits = 3/1h
                limiter.rules.user.key = user
                limiter.rules.logged-in.path = /*
                limiter.rules.logged-in.limits = 2/1h
                limiter.rules.logged-in.position = after-authentication
                """);
        // What is refused before costs nothing after.
        assertEquals(List.of(401, 401), server.statuses(2, "/"));
        assertEquals(List.of(200, 200), server.statuses(2, "/", "Login", "ann"));
        HttpResponse<String> third = server.get("/", "Login", "ann");
        assertEquals(429, third.statusCode());
        assertTrue(third.body().contains("[\"logged-in\"]"), third.body());
        assertEquals(List.of(401, 429), server.statuses(2, "/"), "the tries are used up");
    }

    /** A request that authentication refuses never reaches the rule behind it. */
    @ParameterizedTest
    @EachContainer
    void aRuleBehindTheAuthenticationLeavesTheDefaultRuleInForce(Container.Kind container) {
        String rules = """
                limiter.rules.api.path = /*
                limiter.rules.api.limits = 9/1h
                limiter.rules.api.key = user
                limiter.rules.rest.default = true
                limiter.rules.rest.limits = 2/1h
                """;
        startAroundAuthentication(container, rules);
        assertEquals(List.of(401, 401, 429), server.statuses(3, "/"));
        server.close();
        server = container.start(
                directory,
                List.of(AUTHENTICATION, WebServer.limiter(new ManualTime(), rules)),
                Map.of("/", Answer.text("ok")));
        assertEquals(Collections.nCopies(9, 200), server.statuses(9, "/", "Login", "ann"), "one filter has both rules");
    }
}
