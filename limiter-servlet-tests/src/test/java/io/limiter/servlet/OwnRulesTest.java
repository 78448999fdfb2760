package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.rule.Rule;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.io.StringReader;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules that the application has written, alone and beside configured ones, and filters that have some of the configured ones. */
class OwnRulesTest {
    private static final Policy FREE = Policy.of("free", Limit.fixedWindow(1, Duration.ofHours(1)));
    private static final Policy GOLD = Policy.of("gold", Limit.fixedWindow(3, Duration.ofHours(1)));

    /** The policy by the plan of the caller, the cost by the size of the request. */
    private static final Rule<HttpServletRequest> BY_PLAN = request -> {
        String user = request.getHeader("User");
        if (user == null) {
            return null;
        }
        String cost = request.getHeader("Cost");
        return new Charge(
                user.startsWith("gold") ? GOLD : FREE, PartitionKey.of(user), cost == null ? 1 : Long.parseLong(cost));
    };

    @TempDir
    Path directory;

    private final RateLimiter rateLimiter = RateLimiters.on(
            InProcessBackend.builder().timeSource(new ManualTime()).build());

    private WebServer serve(RateLimitFilter filter) {
        return new WebServer(directory)
                .filter("limiter", filter)
                .servlet("/", Answer.text("ok"))
                .servlet(
                        "/front",
                        (request, response) ->
                                request.getRequestDispatcher("/page").forward(request, response))
                .start();
    }

    @Test
    void needNoConfiguration() {
        try (WebServer server =
                serve(RateLimitFilter.builder(rateLimiter).rule(BY_PLAN).build())) {
            assertEquals(List.of(200, 200), server.statuses(2, "/page"));
            assertEquals(List.of(200, 429), server.statuses(2, "/page", "User", "ann"));
            assertEquals(List.of(200, 200, 200, 429), server.statuses(4, "/front", "User", "gold bob"));
            HttpResponse<String> denied = server.get("/page", "User", "gold eve", "Cost", "4");
            assertEquals(429, denied.statusCode());
            assertEquals(Optional.of("\"gold\";q=3;w=3600"), denied.headers().firstValue("RateLimit-Policy"));
            assertEquals(Optional.empty(), denied.headers().firstValue("Retry-After"));
            assertTrue(denied.body().contains("\"violated-policies\":[\"gold\"]"), denied.body());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"draft-10", "x-ratelimit"})
    void areToldAsThoseOfTheConfiguration(String form) {
        Limiter limiter = Limiter.of(
                WebServer.config("limiter.rules.all.path = /*\nlimiter.rules.all.limits = 9/1h fixed\n"
                        + "limiter.http.headers = " + form),
                rateLimiter);
        try (WebServer server =
                serve(RateLimitFilter.builder(limiter).rule(BY_PLAN).build())) {
            HttpResponse<String> answer = server.get("/page", "User", "gold ann");
            boolean isDraft = form.equals("draft-10");
            assertEquals(
                    isDraft ? List.of("\"all\";q=9;w=3600, \"gold\";q=3;w=3600") : List.of(),
                    answer.headers().allValues("RateLimit-Policy"));
            assertEquals(
                    isDraft ? List.of("\"all\";r=8;t=3600, \"gold\";r=2;t=3600") : List.of(),
                    answer.headers().allValues("RateLimit"));
            assertEquals(isDraft ? List.of() : List.of("2"), answer.headers().allValues("X-RateLimit-Remaining"));
        }
    }

    @Test
    void oneLimitNameInTwoPoliciesOfADecision() throws Exception {
        Policy own = Policy.of("own", Limit.fixedWindow(0, Duration.ofHours(1)).withName("daily"));
        Limiter limiter = Limiter.of(
                WebServer.config("limiter.rules.all.path = /*\nlimiter.rules.all.limits = 9/1h fixed name daily\n"),
                rateLimiter);
        FakeExchange exchange = new FakeExchange();
        RateLimitFilter.builder(limiter)
                .rule(request -> new Charge(own, PartitionKey.global(), 1))
                .build()
                .doFilter(exchange.request(), exchange.response(), (in, out) -> {});
        assertEquals(List.of("\"all/daily\";q=9;w=3600, \"own/daily\";q=0;w=3600"), exchange.all("RateLimit-Policy"));
        assertTrue(exchange.body().contains("\"violated-policies\":[\"own/daily\"]"), exchange.body());
    }

    @Test
    void stayWhenTheConfigurationIsReplaced() {
        Limiter limiter = Limiter.of(
                WebServer.config("limiter.rules.all.path = /*\nlimiter.rules.all.limits = 9/1h fixed\n"), rateLimiter);
        try (WebServer server =
                serve(RateLimitFilter.builder(limiter).rule(BY_PLAN).build())) {
            assertEquals(200, server.get("/page", "User", "ann").statusCode());
            limiter.replace(WebServer.config(""));
            assertEquals(429, server.get("/page", "User", "ann").statusCode());
            assertEquals(
                    List.of("\"gold\";r=2;t=3600"),
                    server.get("/page", "User", "gold ann").headers().allValues("RateLimit"));
        }
    }

    @Test
    void aRuleThatFailsLetsNothingPass() throws Exception {
        boolean[] passed = new boolean[1];
        RateLimitFilter filter = RateLimitFilter.builder(rateLimiter)
                .rule(request -> {
                    throw new IllegalStateException("no plan");
                })
                .build();
        FakeExchange exchange = new FakeExchange();
        assertThrows(
                IllegalStateException.class,
                () -> filter.doFilter(exchange.request(), exchange.response(), (in, out) -> passed[0] = true));
        assertEquals(false, passed[0]);
    }

    @Test
    void aHandlerAndSomeConfiguredRulesCanBeGivenToo() throws Exception {
        Limiter limiter = Limiter.of(
                WebServer.config("limiter.rules.none.path = /*\nlimiter.rules.none.limits = 0/1h\n"), rateLimiter);
        RateLimitFilter filter = RateLimitFilter.builder(limiter)
                .configuredRules(name -> false)
                .rule(BY_PLAN)
                .rejectionHandler((rejection, request, response) -> response.setStatus(418))
                .build();
        for (int status : List.of(200, 418)) {
            FakeExchange exchange = new FakeExchange().header("User", "ann");
            filter.doFilter(exchange.request(), exchange.response(), (in, out) -> {});
            assertEquals(status, exchange.status);
        }
    }

    @Test
    void aFilterWithoutAnyRuleIsRefused() {
        assertThrows(
                IllegalArgumentException.class,
                () -> RateLimitFilter.builder(rateLimiter).build());
    }

    private static final String CHOSEN = """
            limiter.policies.shared.limits = 5/1h
            limiter.policies.other.limits = 5/1h name shared
            limiter.rules.early.path = /*
            limiter.rules.early.policy = shared
            limiter.rules.late.path = /*
            limiter.rules.late.policy = shared
            limiter.rules.late-too.path = /*
            limiter.rules.late-too.policy = other
            """;

    private final Limiter chosen = chosen(CHOSEN);

    @Test
    void aRequestIsOneForBoth() throws Exception {
        RateLimitFilter early =
                RateLimitFilter.builder(chosen).configuredRules("early"::equals).build();
        RateLimitFilter late = RateLimitFilter.builder(chosen)
                .configuredRules(name -> !name.equals("early"))
                .build();
        for (int i = 1; i <= 5; i++) {
            FakeExchange exchange = new FakeExchange();
            assertTrue(passes(early, exchange));
            assertEquals(List.of("\"shared\";r=" + (5 - i) + ";t=3600"), exchange.all("RateLimit"));
            assertTrue(passes(late, exchange), "charged by one of them");
            assertEquals(
                    List.of("\"shared/shared\";r=" + (5 - i) + ";t=3600, \"other/shared\";r=" + (5 - i) + ";t=3600"),
                    exchange.all("RateLimit"),
                    "reported under one name by both in the end");
        }
        FakeExchange exchange = new FakeExchange();
        assertEquals(false, passes(early, exchange));
        assertEquals(429, exchange.status);
    }

    @Test
    void aFilterMayHaveNone() throws Exception {
        RateLimitFilter none =
                RateLimitFilter.builder(chosen).configuredRules(name -> false).build();
        FakeExchange exchange = new FakeExchange();
        assertTrue(passes(none, exchange));
        assertEquals(List.of(), exchange.all("RateLimit"));
        assertThrows(IllegalArgumentException.class, () -> new RateLimitFilter(chosen("")), "all rules, of none");
    }

    private static boolean passes(RateLimitFilter filter, FakeExchange exchange) throws Exception {
        boolean[] passed = new boolean[1];
        filter.doFilter(exchange.request(), exchange.response(), (request, response) -> passed[0] = true);
        return passed[0];
    }

    private static Limiter chosen(String rules) {
        try {
            return Limiter.of(
                    LimiterConfig.builder()
                            .text("limiter.properties", new StringReader(rules))
                            .build(),
                    RateLimiters.on(InProcessBackend.builder()
                            .timeSource(new ManualTime())
                            .build()));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
