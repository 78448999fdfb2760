package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** The decision as an attribute of the request, several forms of response fields, and rules before and after authentication. */
class WhatTheApplicationSeesTest {
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

    @TempDir
    Path directory;

    @ParameterizedTest
    @EachContainer
    void theDecisionIsAnAttribute(Container.Kind container) throws Exception {
        String rules = """
                limiter.rules.page.path = /page
                limiter.rules.page.limits = 2/1h
                limiter.rules.other.path = /other, /async
                limiter.rules.other.limits = 9/1h
                """;
        Filter limiter = WebServer.limiter(
                RateLimiters.on(
                        InProcessBackend.builder().timeSource(new ManualTime()).build()),
                rules,
                (rejection, request, response) -> SEEN.to(request, response));
        try (Container site = container.start(
                directory,
                List.of(limiter),
                Map.of(
                        "/page",
                        SEEN,
                        "/free",
                        SEEN,
                        "/other",
                        (request, response) ->
                                request.getRequestDispatcher("/page").forward(request, response),
                        "/async",
                        (request, response) -> {
                            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                                SEEN.to(request, response);
                            } else {
                                request.startAsync().dispatch();
                            }
                        }))) {
            assertEquals("none", site.get("/free").body());
            assertEquals("page 1", site.get("/page").body());
            assertEquals("other 8", site.get("/async").body(), "an async dispatch keeps it");
            assertEquals("page 0", site.get("/other").body(), "the forward was charged last");
            HttpResponse<String> denied = site.get("/page");
            assertEquals(429, denied.statusCode());
            assertEquals("page 0", denied.body());
        }
    }

    @ParameterizedTest
    @EachContainer
    void xRatelimitBesideADraft(Container.Kind container) throws Exception {
        assertEquals(
                "{ratelimit=[\"r\";r=1;t=3600], ratelimit-policy=[\"r\";q=2;w=3600],"
                        + " x-ratelimit-limit=[2], x-ratelimit-remaining=[1], x-ratelimit-reset=[*]}",
                fields(container, "draft-10, x-ratelimit").toString());
    }

    private Map<String, List<String>> fields(Container.Kind container, String forms) throws Exception {
        String rules = "limiter.rules.r.path = /*\nlimiter.rules.r.limits = 2/1h\nlimiter.http.headers = " + forms;
        try (Container site = container.start(
                directory, List.of(WebServer.limiter(new ManualTime(), rules)), Map.of("/", Answer.text("ok")))) {
            HttpResponse<String> answer = site.get("/");
            Map<String, List<String>> fields = new TreeMap<>(answer.headers().map());
            fields.keySet().removeIf(name -> !name.contains("ratelimit"));
            fields.replace("x-ratelimit-reset", List.of("*"));
            return fields;
        }
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

    @ParameterizedTest
    @EachContainer
    void rulesAreDecidedBeforeOrAfterAuthentication(Container.Kind container) throws Exception {
        String rules = """
                limiter.rules.tries.path = /*
                limiter.rules.tries.limits = 6/1h
                limiter.rules.user.path = /*
                limiter.rules.user.limits = 3/1h
                limiter.rules.user.key = user
                limiter.rules.logged-in.path = /*
                limiter.rules.logged-in.limits = 2/1h
                limiter.rules.logged-in.position = after-authentication
                """;
        try (Limiter limiter = Limiter.of(
                WebServer.config(rules),
                RateLimiters.on(
                        InProcessBackend.builder().timeSource(new ManualTime()).build()))) {
            Filter before =
                    RateLimitFilter.builder(limiter).rulesBeforeAuthentication().build();
            Filter after =
                    RateLimitFilter.builder(limiter).rulesAfterAuthentication().build();
            try (Container site = container.start(
                    directory, List.of(before, AUTHENTICATION, after), Map.of("/", Answer.text("ok")))) {
                // What is refused before costs nothing after.
                assertEquals(401, site.status("/"));
                assertEquals(401, site.status("/"));
                assertEquals(200, site.status("/", "Login", "ann"));
                assertEquals(200, site.status("/", "Login", "ann"));
                HttpResponse<String> third = site.get("/", "Login", "ann");
                assertEquals(429, third.statusCode());
                assertTrue(third.body().contains("[\"logged-in\"]"), third.body());
                assertEquals(401, site.status("/"));
                assertEquals(429, site.status("/"), "the tries are used up");
            }
        }
    }

    /** A request that authentication refuses never reaches the rule behind it. */
    @ParameterizedTest
    @EachContainer
    void aRuleBehindTheAuthenticationLeavesTheDefaultRuleInForce(Container.Kind container) throws Exception {
        String rules = """
                limiter.rules.api.path = /*
                limiter.rules.api.limits = 9/1h
                limiter.rules.api.key = user
                limiter.rules.rest.default = true
                limiter.rules.rest.limits = 2/1h
                """;
        try (Limiter limiter = Limiter.of(
                WebServer.config(rules),
                RateLimiters.on(
                        InProcessBackend.builder().timeSource(new ManualTime()).build()))) {
            Filter before =
                    RateLimitFilter.builder(limiter).rulesBeforeAuthentication().build();
            Filter after =
                    RateLimitFilter.builder(limiter).rulesAfterAuthentication().build();
            try (Container site = container.start(
                    directory, List.of(before, AUTHENTICATION, after), Map.of("/", Answer.text("ok")))) {
                assertEquals(401, site.status("/"));
                assertEquals(401, site.status("/"));
                assertEquals(429, site.status("/"));
            }
        }
        try (Limiter limiter = Limiter.of(
                        WebServer.config(rules),
                        RateLimiters.on(InProcessBackend.builder()
                                .timeSource(new ManualTime())
                                .build()));
                Container site = container.start(
                        directory,
                        List.of(AUTHENTICATION, new RateLimitFilter(limiter)),
                        Map.of("/", Answer.text("ok")))) {
            for (int i = 0; i < 9; i++) {
                assertEquals(200, site.status("/", "Login", "ann"), "one filter has both rules");
            }
        }
    }
}
