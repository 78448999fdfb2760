package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.http.HttpServletResponse;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A request that can never pass is promised no time, in no field, whether the backend answers or not. */
class NeverAllowedTest {
    private static final List<String> TIMES = List.of("Retry-After", "X-RateLimit-Reset");

    @TempDir
    Path directory;

    private HttpResponse<String> answer(RateLimiter limiter, String rules) {
        try (WebServer server = new WebServer(directory)
                .filter("limiter", WebServer.limiter(limiter, rules))
                .servlet("/", Answer.text("ok"))
                .servlet(
                        "/front",
                        (request, response) ->
                                request.getRequestDispatcher("/closed").forward(request, response))
                .start()) {
            return server.get("/front");
        }
    }

    private static RateLimiter present() {
        return RateLimiters.on(
                InProcessBackend.builder().timeSource(new ManualTime()).build());
    }

    private static RateLimiter unreachable() {
        Backend closed = InProcessBackend.create();
        closed.close();
        return RateLimiters.builder(closed)
                .fallback(InProcessBackend.create())
                .instances(3)
                .build();
    }

    private static String rules(String form) {
        return "limiter.http.headers = " + form
                + "\nlimiter.rules.closed.path = /closed\nlimiter.rules.closed.limits = 0/1m\n";
    }

    private static void assertNoTime(HttpResponse<String> denied) {
        assertEquals(429, denied.statusCode());
        TIMES.forEach(name -> assertEquals(Optional.empty(), denied.headers().firstValue(name), name));
        for (String line : denied.headers().allValues("RateLimit")) {
            assertTrue(!line.contains(";t="), line);
        }
        assertTrue(denied.body().contains("\"detail\":\"This request is not allowed, now or later.\""), denied.body());
        assertTrue(denied.body().contains("#quota-exceeded\""), denied.body());
        assertTrue(denied.body().contains("\"violated-policies\":[\"closed\"]"), denied.body());
    }

    @ParameterizedTest
    @ValueSource(strings = {"draft-10", "x-ratelimit", "none"})
    void isPromisedNoTime(String form) {
        assertNoTime(answer(present(), rules(form)));
        assertNoTime(answer(unreachable(), rules(form) + "limiter.rules.closed.on-failure = local"));
        HttpResponse<String> denied = answer(unreachable(), rules(form) + "limiter.rules.closed.on-failure = deny");
        assertNoTime(denied);
        assertEquals(Optional.empty(), denied.headers().firstValue("RateLimit-Policy"));
        assertEquals(
                200,
                answer(unreachable(), rules(form) + "limiter.rules.closed.on-failure = allow")
                        .statusCode());
    }

    /** The rule of the path that it was forwarded from has set its numbers before. */
    @ParameterizedTest
    @CsvSource({"draft-10, RateLimit RateLimit-Policy", "x-ratelimit, X-RateLimit-Limit X-RateLimit-Remaining"})
    void norIsOneThatAnotherRuleHasAdmittedBefore(String form, String sent) {
        String front = "limiter.rules.front.path = /front\nlimiter.rules.front.limits = 9/1m\n";
        HttpResponse<String> denied = answer(present(), rules(form) + front);
        assertNoTime(denied);
        List<String> names = denied.headers().map().keySet().stream()
                .map(name -> name.toLowerCase(Locale.ROOT))
                .filter(name -> name.contains("ratelimit"))
                .sorted()
                .toList();
        assertEquals(sent.toLowerCase(Locale.ROOT), String.join(" ", names));
    }

    @Test
    void whatOtherFiltersHaveSetStays() {
        try (WebServer server = new WebServer(directory)
                .filter("other", (request, response, chain) -> {
                    ((HttpServletResponse) response).addHeader("Set-Cookie", "a=b");
                    ((HttpServletResponse) response).addHeader("Set-Cookie", "c=d");
                    chain.doFilter(request, response);
                })
                .filter(
                        "limiter",
                        WebServer.limiter(
                                present(),
                                rules("x-ratelimit")
                                        + "limiter.rules.front.path = /front\nlimiter.rules.front.limits = 9/1m"))
                .servlet(
                        "/front",
                        (request, response) ->
                                request.getRequestDispatcher("/closed").forward(request, response))
                .servlet("/", Answer.text("ok"))
                .start()) {
            HttpResponse<String> denied = server.get("/front");
            assertNoTime(denied);
            assertEquals(List.of("a=b", "c=d"), denied.headers().allValues("Set-Cookie"));
        }
    }
}
