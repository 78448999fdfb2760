package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Filters of one limiter that have some of its rules each. */
class ChosenRulesTest {
    private static final String RULES = """
            limiter.policies.shared.limits = 5/1h
            limiter.policies.other.limits = 5/1h name shared
            limiter.rules.early.path = /*
            limiter.rules.early.policy = shared
            limiter.rules.late.path = /*
            limiter.rules.late.policy = shared
            limiter.rules.late-too.path = /*
            limiter.rules.late-too.policy = other
            """;

    private final Limiter limiter = limiter(RULES);

    @Test
    void aRequestIsOneForBoth() throws Exception {
        RateLimitFilter early = RateLimitFilter.builder(limiter)
                .configuredRules("early"::equals)
                .build();
        RateLimitFilter late = RateLimitFilter.builder(limiter)
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
                RateLimitFilter.builder(limiter).configuredRules(name -> false).build();
        FakeExchange exchange = new FakeExchange();
        assertTrue(passes(none, exchange));
        assertEquals(List.of(), exchange.all("RateLimit"));
        assertThrows(IllegalArgumentException.class, () -> new RateLimitFilter(limiter("")), "all rules, of none");
    }

    private static boolean passes(RateLimitFilter filter, FakeExchange exchange) throws Exception {
        boolean[] passed = new boolean[1];
        filter.doFilter(exchange.request(), exchange.response(), (request, response) -> passed[0] = true);
        return passed[0];
    }

    private static Limiter limiter(String rules) {
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
