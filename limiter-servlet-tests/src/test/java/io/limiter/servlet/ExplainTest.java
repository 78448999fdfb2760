package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.http.RequestSample;
import io.limiter.http.RequestSample.Explanation;
import io.limiter.http.RequestSample.Explanation.RuleReport;
import io.limiter.kit.Backends;
import io.limiter.rule.Cost;
import io.limiter.rule.KeyResolver;
import io.limiter.rule.PlanResolver;
import io.limiter.rule.Rule;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an explanation contains, and what it never contains. */
class ExplainTest {
    private static final String RULES = """
            limiter.exempt.addresses = 198.51.100.0/24
            limiter.deny.addresses = 203.0.113.66
            limiter.plans.free.limits = 1/10s
            limiter.plans.gold.limits = 9/10s
            limiter.rules.api.path = /api/*
            limiter.rules.api.methods = GET
            limiter.rules.api.except = /api/health
            limiter.rules.api.exempt.users = root
            limiter.rules.api.key = header:X-Api-Key
            limiter.rules.api.plan = header:X-Plan
            limiter.rules.api.default-plan = free
            limiter.rules.tried.path = /api/*
            limiter.rules.tried.shadow = true
            limiter.rules.tried.limits = 1/1h
            limiter.rules.off.path = /api/*
            limiter.rules.off.enabled = false
            limiter.rules.off.limits = 1/1h
            limiter.rules.rest.default = true
            limiter.rules.rest.limits = 5/10s
            """;
    private static final RequestSample API = RequestSample.of("GET", "/%61pi/x", "192.0.2.1");

    private final ManualTime time = new ManualTime();
    private final RateLimiter rateLimiter = RateLimiters.on(Backends.inProcess(time));
    private final Limiter limiter = Limiter.of(WebServer.config(RULES), rateLimiter);
    private final RateLimitFilter filter = new RateLimitFilter(limiter);

    @AfterEach
    void close() {
        limiter.close();
    }

    private static RuleReport rule(Explanation explanation, String name) {
        return explanation.rules().stream()
                .filter(rule -> rule.rule().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private String why(RequestSample sample, String name) {
        RuleReport rule = rule(filter.explain(sample), name);
        assertEquals(rule.counts(), rule.charge() != null);
        return rule.counts() + ": " + rule.why();
    }

    @Test
    void eachRuleSaysWhyItCountsOrDoesNot() {
        assertEquals("true: it matches", why(API, "api"));
        assertEquals("true: it matches; it is a shadow rule, so it counts and denies nothing", why(API, "tried"));
        assertEquals("false: limiter.rules.off.enabled is false", why(API, "off"));
        assertEquals("false: it is a default rule, and another rule matches the request", why(API, "rest"));
        assertEquals("false: the path is not one of [/api/*]", why(RequestSample.of("GET", "/x", "192.0.2.1"), "api"));
        assertEquals(
                "false: the path matches; the method, a header or the query does not",
                why(RequestSample.of("PUT", "/api/x", "192.0.2.1"), "api"));
        assertEquals(
                "false: limiter.rules.api.except has the path",
                why(RequestSample.of("GET", "/api/health", "192.0.2.1"), "api"));
        assertEquals(
                "false: limiter.exempt has the caller", why(RequestSample.of("GET", "/api/x", "198.51.100.7"), "api"));
        assertEquals(
                "false: limiter.rules.api.exempt has the caller", why(API.withUser("root", Set.of(), Map.of()), "api"));
    }

    @Test
    void whatIsHeldUntilTheEnd() {
        Limiter held = Limiter.of(WebServer.config("""
                limiter.policies.calls.limits = 1 concurrent
                limiter.rules.calls.path = /*
                limiter.rules.calls.policy = calls
                limiter.policies.tokens.limits = 100/1h fixed
                limiter.policies.tokens.holds = 10
                limiter.rules.tokens.path = /*
                limiter.rules.tokens.policy = tokens
                limiter.rules.tokens.cost = 30
                limiter.rules.tokens.settle = attribute:used
                """), rateLimiter);
        RateLimitFilter both = new RateLimitFilter(held);
        Explanation explained = both.explain(API);
        assertTrue(explained.admitted(), explained::toString);
        assertEquals(
                "it matches; permits in flight are held until the response has ended",
                rule(explained, "calls").why());
        assertEquals(
                "it matches; the cost is an estimate until the response has ended, then attribute:used",
                rule(explained, "tokens").why());
        InFlight call = rateLimiter.enter(held.policies().get("calls"), PartitionKey.of("192.0.2.1"), 1);
        explained = both.explain(API);
        assertEquals(429, explained.status());
        assertEquals("unknown", explained.retryAfter());
        assertTrue(explained.reason().contains("by its limit 1 concurrent"), explained::toString);
        call.close();
        assertTrue(both.explain(API).admitted());
        held.close();
    }

    @Test
    void readingKeyPlanAndStateAreThoseOfTheFilterAndNothingIsTaken() {
        PartitionKey key = PartitionKey.builder()
                .addSecret("header.x-api-key", "s3cr3t", limiter.keyHash())
                .build();
        limiter.tryAcquire("api.gold", key, 8);
        RequestSample sample = API.withHeaders("x-api-key: s3cr3t\nX-Plan: gold");
        for (int i = 0; i < 3; i++) {
            Explanation explained = filter.explain(sample);
            assertTrue(explained.admitted(), explained.toString());
            assertEquals("all limits allow it", explained.reason());
            assertEquals(List.of("/api/x"), explained.paths());
            RuleReport api = rule(explained, "api");
            assertEquals("/api/x", api.path());
            assertEquals("api.gold", api.charge().policy());
            assertEquals("gold", api.charge().plan());
            assertEquals(key.canonical(), api.charge().key());
            assertEquals(0, api.charge().limits().get(0).remaining());
        }
        limiter.tryAcquire("api.gold", key, 1);
        time.advance(Duration.ofMillis(500));
        Explanation denied = filter.explain(sample);
        assertFalse(denied.admitted());
        assertEquals(429, denied.status());
        assertEquals("PT9.5S", denied.retryAfter());
        assertEquals(
                "policy 'api.gold' denies the key " + key.canonical()
                        + " by its limit 9/10s sliding-list name api.gold",
                denied.reason());
        assertEquals("free", rule(filter.explain(API), "api").charge().plan());
    }

    @Test
    void secretsAreNowhereInClear() {
        RequestSample sample = RequestSample.of("GET", "/api/x?token=s3cr3t", "192.0.2.1")
                .withHeaders("X-Api-Key: s3cr3t", "Authorization: Bearer s3cr3t", "Cookie: sid=s3cr3t", "Evil: s3cr3t");
        String all = filter.explain(sample) + " " + sample;
        assertFalse(all.contains("s3cr3t"), all);
        IllegalArgumentException wrong =
                assertThrows(IllegalArgumentException.class, () -> sample.withHeaders("s3cr3t without a colon"));
        assertFalse(wrong.getMessage().contains("s3cr3t"), wrong.getMessage());
    }

    @Test
    void deniedCallersAndAConfigurationWithoutLimits() {
        Explanation denied = filter.explain(RequestSample.of("GET", "/api/x", "203.0.113.66"));
        assertEquals(403, denied.status());
        assertEquals("limiter.deny.addresses has the client's address", denied.reason());
        assertEquals("never", denied.retryAfter());
        assertEquals("203.0.113.66", denied.client());
        assertEquals("peer", denied.clientFrom());
        assertEquals(0, rateLimiter.monitor().policies().size());
        Explanation none = filter.explain(RequestSample.of("GET", "/", "198.51.100.7"));
        assertEquals("no rule counts the request", none.reason());
        assertTrue(none.admitted());
    }

    /** A class of the application, which a sample must not reach. */
    public static final class Never implements KeyResolver<HttpServletRequest>, Cost<HttpServletRequest>, PlanResolver {
        @Override
        public PartitionKey resolve(HttpServletRequest request) {
            throw new AssertionError("called");
        }

        @Override
        public long permits(HttpServletRequest request) {
            throw new AssertionError("called");
        }

        @Override
        public String plan(String caller) {
            throw new AssertionError("called");
        }
    }

    @Test
    void whatClassesDecideIsNamedAndTheyAreNotCalled() {
        String never = Never.class.getName();
        RateLimitFilter named = WebServer.limiter(rateLimiter, """
                limiter.plans.gold.limits = 9/10s
                limiter.rules.keyed.path = /api/*
                limiter.rules.keyed.key = class:%1$s
                limiter.rules.keyed.cost = %1$s
                limiter.rules.keyed.limits = 9/1h
                limiter.rules.planned.path = /api/*
                limiter.rules.planned.plan = %1$s
                limiter.rules.planned.default-plan = gold
                limiter.rules.plain.path = /api/*
                limiter.rules.plain.limits = 1/1h
                """.formatted(never));
        Explanation explained = named.explain(API);
        String keyed = " cost decided by class " + never + " with each request, key decided by class " + never
                + " with each request";
        String planned = " plan decided by class " + never + " with each request";
        assertEquals("it matches;" + keyed, rule(explained, "keyed").why());
        assertEquals("it matches;" + planned, rule(explained, "planned").why());
        assertTrue(rule(explained, "keyed").counts());
        assertNull(rule(explained, "keyed").charge());
        assertNull(rule(explained, "planned").charge());
        assertEquals(1, rule(explained, "plain").charge().permits());
        assertTrue(explained.admitted());
        assertEquals(
                "no limit denies it whose charge is known; rule 'keyed'" + keyed + "; rule 'planned'" + planned,
                explained.reason());
    }

    @Test
    void rulesInCodeAreNotCalled() {
        Policy policy = Policy.of("own", Limit.fixedWindow(1, Duration.ofHours(1)));
        Rule<HttpServletRequest> never = Rule.of(
                request -> {
                    throw new AssertionError("called");
                },
                policy);
        Explanation explained =
                RateLimitFilter.builder(rateLimiter).rule(never).build().explain(API);
        assertEquals(
                "rules in code decide with each request",
                explained.rules().get(0).why());
        assertTrue(explained.reason().endsWith("rules in code decide with each request"), explained.reason());
    }

    @Test
    void thePathIsThatOfTheRequestLineWithTheContextPath(@TempDir Path directory) {
        for (String wrong : List.of("", "login", "http://example.com/", "/caf\u00e9", "/a b", "/a\r\nX: y")) {
            assertThrows(IllegalArgumentException.class, () -> RequestSample.of("GET", wrong, "192.0.2.1"), wrong);
        }
        assertThrows(IllegalArgumentException.class, () -> RequestSample.of("GET", "/", "example.com"));
        assertThrows(IllegalArgumentException.class, () -> RequestSample.of("G T", "/", "192.0.2.1"));
        RateLimitFilter shop = WebServer.limiter(new ManualTime(), RULES);
        try (WebServer server = new WebServer(directory, "/shop")
                .filter("limiter", shop)
                .servlet("/", WebServer.Answer.text("ok"))
                .start()) {
            assertTrue(rule(shop.explain(RequestSample.of("GET", "/shop/api/x", "192.0.2.1")), "api")
                    .counts());
            IllegalArgumentException outside = assertThrows(IllegalArgumentException.class, () -> shop.explain(API));
            assertTrue(outside.getMessage().contains("/shop"), outside.getMessage());
        }
    }

    /** What a request logs once is still logged by the first request after any number of explanations. */
    @Test
    void explainingLogsNothingAndUsesNothingUp() throws Exception {
        String rules = """
                limiter.plan-lookup.wait = 10s
                limiter.exempt.addresses = 10.0.0.0/8
                limiter.plans.free.limits = 9/10s
                limiter.rules.a.path = /*
                limiter.rules.a.limits = 9/10s
                limiter.rules.b.path = /*
                limiter.rules.b.limits = 9/10s
                limiter.rules.b.key = class:%s
                limiter.rules.c.path = /*
                limiter.rules.c.plan = %s
                limiter.rules.c.default-plan = free
                """.formatted(KindsOfKeysTest.ByTenant.class.getName(), CommandsTest.Plans.class.getName());
        List<String> once = List.of("RL-302", "RL-310", "RL-316", "RL-317");
        RateLimitFilter own = WebServer.limiter(time, rules);
        FakeExchange exempt = new FakeExchange().header("X-Forwarded-For", "192.0.2.1");
        exempt.header("Tenant", "fault");
        exempt.address = "10.0.0.1";
        try (LogText log = new LogText()) {
            own.explain(RequestSample.of("GET", "/", "10.0.0.1").withHeaders("X-Forwarded-For: 192.0.2.1"));
            once.forEach(code -> assertFalse(log.toString().contains(code), log.toString()));
            exempt.through(own);
            once.forEach(log::has);
        }
    }
}
