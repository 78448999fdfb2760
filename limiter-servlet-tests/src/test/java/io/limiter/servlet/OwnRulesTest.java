package io.limiter.servlet;

import static io.limiter.servlet.Container.field;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.application.Limiter;
import io.limiter.rule.Rule;
import io.limiter.servlet.WebServer.Answer;
import jakarta.servlet.http.HttpServletRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Rules that the application has written, alone and beside configured ones, and filters that have some of the configured ones. */
class OwnRulesTest extends Served {
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

    private void serve(RateLimitFilter.Builder builder) {
        server = new WebServer(directory)
                .filter("limiter", builder.rule(BY_PLAN).build())
                .servlet("/", Answer.text("ok"))
                .servlet("/front", Answer.forward("/page"))
                .start();
    }

    @Test
    void needNoConfiguration() {
        serve(RateLimitFilter.builder(limiter));
        assertEquals(List.of(200, 200), server.statuses(2, "/page"));
        assertEquals(List.of(200, 429), server.statuses(2, "/page", "User", "ann"));
        assertEquals(List.of(200, 200, 200, 429), server.statuses(4, "/front", "User", "gold bob"));
        HttpResponse<String> denied = server.get("/page", "User", "gold eve", "Cost", "4");
        assertEquals(429, denied.statusCode());
        assertEquals("\"gold\";q=3;w=3600", field(denied, "RateLimit-Policy"));
        assertEquals("none", field(denied, "Retry-After"));
        assertTrue(denied.body().contains("\"violated-policies\":[\"gold\"]"), denied.body());
    }

    @ParameterizedTest
    @ValueSource(strings = {"draft-10", "x-ratelimit"})
    void areToldAsThoseOfTheConfiguration(String form) {
        Limiter configured = Limiter.of(
                WebServer.config("limiter.rules.all.path = /*\nlimiter.rules.all.limits = 9/1h fixed\n"
                        + "limiter.http.headers = " + form),
                limiter);
        serve(RateLimitFilter.builder(configured));
        HttpResponse<String> answer = server.get("/page", "User", "gold ann");
        boolean isDraft = form.equals("draft-10");
        assertEquals(isDraft ? "\"all\";q=9;w=3600, \"gold\";q=3;w=3600" : "none", field(answer, "RateLimit-Policy"));
        assertEquals(isDraft ? "\"all\";r=8;t=3600, \"gold\";r=2;t=3600" : "none", field(answer, "RateLimit"));
        assertEquals(isDraft ? "none" : "2", field(answer, "X-RateLimit-Remaining"));
    }

    @Test
    void stayWhenTheConfigurationIsReplaced() {
        Limiter configured = Limiter.of(
                WebServer.config("limiter.rules.all.path = /*\nlimiter.rules.all.limits = 9/1h fixed\n"), limiter);
        serve(RateLimitFilter.builder(configured));
        assertEquals(200, server.get("/page", "User", "ann").statusCode());
        configured.replace(WebServer.config(""));
        assertEquals(429, server.get("/page", "User", "ann").statusCode());
        assertEquals("\"gold\";r=2;t=3600", field(server.get("/page", "User", "gold ann"), "RateLimit"));
    }

    @Test
    void aHandlerAndSomeConfiguredRulesCanBeGivenToo() throws Exception {
        Limiter configured = Limiter.of(
                WebServer.config("limiter.rules.none.path = /*\nlimiter.rules.none.limits = 0/1h\n"), limiter);
        RateLimitFilter filter = RateLimitFilter.builder(configured)
                .configuredRules(name -> false)
                .rule(BY_PLAN)
                .rejectionHandler((rejection, request, response) -> response.setStatus(418))
                .build();
        for (int status : List.of(200, 418)) {
            FakeExchange exchange = new FakeExchange().header("User", "ann");
            assertEquals(status, exchange.through(filter));
        }
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

    private final Limiter chosen = Limiter.of(WebServer.config(CHOSEN), limiter);

    @Test
    void aRequestIsOneForBoth() throws Exception {
        RateLimitFilter early =
                RateLimitFilter.builder(chosen).configuredRules("early"::equals).build();
        RateLimitFilter late = RateLimitFilter.builder(chosen)
                .configuredRules(name -> !name.equals("early"))
                .build();
        for (int i = 1; i <= 5; i++) {
            FakeExchange exchange = new FakeExchange();
            assertEquals(200, exchange.through(early));
            assertEquals(List.of("\"shared\";r=" + (5 - i) + ";t=3600"), exchange.all("RateLimit"));
            assertEquals(200, exchange.through(late), "charged by one of them");
            assertEquals(
                    List.of("\"shared/shared\";r=" + (5 - i) + ";t=3600, \"other/shared\";r=" + (5 - i) + ";t=3600"),
                    exchange.all("RateLimit"),
                    "reported under one name by both in the end");
        }
        FakeExchange exchange = new FakeExchange();
        assertEquals(429, exchange.through(early));
        assertFalse(exchange.passed);
    }

    @Test
    void aFilterMayHaveNone() throws Exception {
        RateLimitFilter none =
                RateLimitFilter.builder(chosen).configuredRules(name -> false).build();
        FakeExchange exchange = new FakeExchange();
        assertEquals(200, exchange.through(none));
        assertEquals(List.of(), exchange.all("RateLimit"));
        assertThrows(
                IllegalArgumentException.class,
                () -> new RateLimitFilter(Limiter.of(WebServer.config(""), limiter)),
                "of none");
        assertThrows(
                IllegalArgumentException.class,
                () -> RateLimitFilter.builder(limiter).build());
    }
}
