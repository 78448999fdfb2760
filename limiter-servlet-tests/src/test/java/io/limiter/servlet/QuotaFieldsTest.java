package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.servlet.WebServer.Answer;
import io.limiter.servlet.rejection.HeaderVectorsTest;
import java.net.http.HttpResponse;
import java.time.Clock;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The fields of a response where a request meets more than one decision, or less than an exact one, or is never allowed. */
class QuotaFieldsTest extends Served {
    private static final List<String> ALL =
            List.of("RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset");

    private void start(String... filters) {
        server = new WebServer(directory);
        for (int i = 0; i < filters.length; i++) {
            server.filter("limiter" + i, WebServer.limiter(time, filters[i]));
        }
        server.servlet("/", Answer.text("ok"))
                .servlet("/flush", (request, response) -> {
                    response.getWriter().write("sent");
                    response.flushBuffer();
                })
                .servlet("/front", Answer.forward("/behind"))
                .servlet("/async", (request, response) -> request.startAsync().dispatch("/page"))
                .start();
    }

    private static List<String> all(HttpResponse<String> response, String name) {
        return response.headers().allValues(name);
    }

    @Test
    void anAllowedAnswerTellsItsQuotaBeforeTheApplicationCommitsIt() {
        start("limiter.rules.vote.path = /*\nlimiter.rules.vote.limits = 3/10s, 9/1d fixed name day");
        HttpResponse<String> answer = server.get("/flush");
        assertEquals("sent", answer.body());
        assertEquals(List.of("\"vote-10s\";q=3;w=10, \"day\";q=9;w=86400"), all(answer, "RateLimit-Policy"));
        assertEquals(List.of("\"vote-10s\";r=2;t=10, \"day\";r=8;t=86400"), all(answer, "RateLimit"));
        assertEquals(List.of(), all(answer, "Retry-After"));
        assertEquals(List.of(), all(answer, "Cache-Control"));
    }

    @Test
    void twoFiltersAddTheirItems() {
        start(
                "limiter.rules.a.path = /*\nlimiter.rules.a.limits = 3/10s",
                "limiter.rules.b.path = /*\nlimiter.rules.b.limits = 1/10s");
        HttpResponse<String> answer = server.get("/page");
        assertEquals(List.of("\"a\";r=2;t=10, \"b\";r=0;t=10"), all(answer, "RateLimit"));
        HttpResponse<String> denied = server.get("/page");
        assertEquals(List.of("\"a\";r=1;t=10, \"b\";r=0;t=10"), all(denied, "RateLimit"));
        assertEquals(List.of("\"a\";q=3;w=10, \"b\";q=1;w=10"), all(denied, "RateLimit-Policy"));
    }

    @Test
    void noTimeIsLaterThanTheRetryAfterOfALaterDenial() {
        start(
                "limiter.rules.wide.path = /*\nlimiter.rules.wide.limits = 9/1h fixed",
                "limiter.rules.tight.path = /page\nlimiter.rules.tight.limits = 1/1m fixed");
        assertEquals(List.of("\"wide\";r=8;t=3600, \"tight\";r=0;t=60"), all(server.get("/page"), "RateLimit"));
        HttpResponse<String> denied = server.get("/page");
        assertEquals(List.of("60"), all(denied, "Retry-After"));
        assertEquals(List.of("\"wide\";r=7, \"tight\";r=0;t=60"), all(denied, "RateLimit"));
    }

    @Test
    void onTheWayToAnotherPathANameStandsOnce() {
        start("""
                limiter.policies.p.limits = 3/1h fixed
                limiter.rules.front.path = /front
                limiter.rules.front.policy = p
                limiter.rules.behind.path = /behind
                limiter.rules.behind.policy = p
                limiter.rules.behind.key = header:Key
                """);
        assertEquals(429, server.statuses(4, "/behind", "Key", "k").get(3));
        HttpResponse<String> denied = server.get("/front", "Key", "k");
        assertEquals(429, denied.statusCode());
        assertEquals(List.of("\"p\";r=0;t=3600"), all(denied, "RateLimit"));
        assertEquals(List.of("\"p\";q=3;w=3600"), all(denied, "RateLimit-Policy"));
        assertEquals(List.of("\"p\";r=1;t=3600"), all(server.get("/front", "Key", "other"), "RateLimit"));
    }

    @Test
    void linesOfOthersStay() throws Exception {
        RateLimitFilter one = WebServer.limiter(time, "limiter.rules.a.path = /*\nlimiter.rules.a.limits = 3/10s");
        RateLimitFilter other = WebServer.limiter(time, "limiter.rules.b.path = /*\nlimiter.rules.b.limits = 3/10s");
        FakeExchange exchange = new FakeExchange();
        exchange.response().addHeader("RateLimit", "\"first\";r=1");
        one.doFilter(exchange.request(), exchange.response(), (request, response) -> {
            exchange.response().addHeader("RateLimit", "\"between\";r=1");
            other.doFilter(request, response, (in, out) -> {});
        });
        assertEquals(
                List.of("\"first\";r=1", "\"a\";r=2;t=10, \"b\";r=2;t=10", "\"between\";r=1"),
                exchange.all("RateLimit"));
    }

    @Test
    void aDenialWithoutNumbersFitsWhatWasTold() throws Exception {
        RateLimitFilter wide =
                WebServer.limiter(time, "limiter.rules.a.path = /*\nlimiter.rules.a.limits = 3/1h fixed");
        RateLimitFilter failing = WebServer.limiter(
                unreachable(),
                "limiter.policies.p.limits = 9/1h\nlimiter.policies.p.on-failure = deny\n"
                        + "limiter.rules.b.path = /*\nlimiter.rules.b.policy = p");
        FakeExchange exchange = new FakeExchange();
        wide.doFilter(
                exchange.request(),
                exchange.response(),
                (request, response) -> failing.doFilter(request, response, (in, out) -> {}));
        assertEquals(503, exchange.status);
        assertEquals(List.of("1"), exchange.all("Retry-After"));
        assertEquals(List.of("\"a\";r=2"), exchange.all("RateLimit"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"3/10s 9/10s", "9/10s 3/10s"})
    void ofTwoFiltersXRateLimitHasTheClosest(String limits) {
        String text = "limiter.rules.NAME.path = /*\nlimiter.http.headers = x-ratelimit\nlimiter.rules.NAME.limits = ";
        start(
                text.replace("NAME", "a") + limits.split(" ", -1)[0],
                text.replace("NAME", "b") + limits.split(" ", -1)[1]);
        HttpResponse<String> answer = server.get("/page");
        assertEquals(List.of("3"), all(answer, "X-RateLimit-Limit"));
        assertEquals(List.of("2"), all(answer, "X-RateLimit-Remaining"));
    }

    @Test
    void anAsyncDispatchTellsNothingTwice() {
        start("limiter.rules.a.path = /*\nlimiter.rules.a.limits = 3/10s");
        HttpResponse<String> answer = server.get("/async");
        assertEquals("ok", answer.body());
        assertEquals(List.of("\"a\";r=2;t=10"), all(answer, "RateLimit"));
    }

    @Test
    void aPolicyThatIsChargedForTwoKeysStandsOnceWithTheFewerLeft() {
        start("""
                limiter.policies.p.limits = 5/10s, 9/1m fixed name minute
                limiter.policies.other.limits = 4/1s
                limiter.rules.a.path = /*
                limiter.rules.a.policy = p
                limiter.rules.o.path = /*
                limiter.rules.o.policy = other
                limiter.rules.b.path = /*
                limiter.rules.b.policy = p
                limiter.rules.b.key = header:Who
                """);
        server.get("/page", "Who", "ann");
        server.get("/page", "Who", "bob");
        HttpResponse<String> answer = server.get("/page", "Who", "cid");
        assertEquals(
                List.of("\"p-10s\";q=5;w=10, \"minute\";q=9;w=60, \"other\";q=4;w=1"), all(answer, "RateLimit-Policy"));
        assertEquals(List.of("\"p-10s\";r=2;t=10, \"minute\";r=6;t=60, \"other\";r=1;t=1"), all(answer, "RateLimit"));
    }

    @ParameterizedTest
    @EnumSource(Decision.Source.class)
    void aGuessIsNotTold(Decision.Source source) {
        LimiterConfig config = WebServer.config("limiter.policies.p.limits = 5/10s");
        Policy policy = config.policies().get("p");
        Charge charge = new Charge(policy, PartitionKey.of("x"), 1);
        for (boolean allowed : new boolean[] {true, false}) {
            Decision decision = Decision.of(
                    source,
                    List.of(charge),
                    List.of(LimitOutcome.of(
                            charge, policy.limits().get(0), allowed, 0, allowed ? 0 : 7_000_000, 7_000_000, 9, 0)));
            FakeExchange answer = HeaderVectorsTest.answered(config, decision, Clock.systemUTC());
            for (String name : ALL) {
                boolean told = source.isExact() && (name.equals("RateLimit") || name.equals("RateLimit-Policy"));
                assertEquals(told ? 1 : 0, answer.all(name).size(), source + " " + name);
            }
            // A switch denies like a server that is not available.
            boolean isClosed = source == Decision.Source.FAILED_CLOSED || source == Decision.Source.OVERRIDDEN;
            assertEquals(allowed ? 200 : isClosed ? 503 : 429, answer.status);
            assertEquals(allowed ? List.of() : List.of("7"), answer.all("Retry-After"));
        }
    }

    @Test
    void nothingIsWrittenOntoACommittedResponse() throws Exception {
        RateLimitFilter filter = WebServer.limiter(time, "limiter.rules.a.path = /*\nlimiter.rules.a.limits = 1/10s");
        int[] passed = new int[1];
        assertEquals(List.of("RL-321"), FindingsTest.codes(() -> {
            for (int i = 0; i < 4; i++) {
                FakeExchange exchange = new FakeExchange();
                exchange.committed = true;
                exchange.through(filter);
                passed[0] += exchange.passed ? 1 : 0;
                assertTrue(exchange.received.isEmpty(), exchange.received.toString());
                assertEquals("", exchange.body());
            }
        }));
        assertEquals(1, passed[0]);
    }

    private static final List<String> TIMES = List.of("Retry-After", "X-RateLimit-Reset");

    private HttpResponse<String> answer(RateLimiter limiter, String rules) {
        try (WebServer server = new WebServer(directory)
                .filter("limiter", WebServer.limiter(limiter, rules))
                .servlet("/", Answer.text("ok"))
                .servlet("/front", (request, response) -> {
                    response.addHeader("Set-Cookie", "a=b");
                    response.addHeader("Set-Cookie", "c=d");
                    request.getRequestDispatcher("/closed").forward(request, response);
                })
                .start()) {
            return server.get("/front");
        }
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
        TIMES.forEach(name -> assertEquals(List.of(), all(denied, name), name));
        for (String line : all(denied, "RateLimit")) {
            assertTrue(!line.contains(";t="), line);
        }
        assertTrue(denied.body().contains("\"detail\":\"This request is not allowed, now or later.\""), denied.body());
        assertTrue(denied.body().contains("#quota-exceeded\""), denied.body());
        assertTrue(denied.body().contains("\"violated-policies\":[\"closed\"]"), denied.body());
    }

    @ParameterizedTest
    @ValueSource(strings = {"draft-10", "x-ratelimit", "none"})
    void isPromisedNoTime(String form) {
        assertNoTime(answer(limiter, rules(form)));
        assertNoTime(answer(unreachable(), rules(form) + "limiter.rules.closed.on-failure = local"));
        HttpResponse<String> denied = answer(unreachable(), rules(form) + "limiter.rules.closed.on-failure = deny");
        assertNoTime(denied);
        assertEquals(List.of(), all(denied, "RateLimit-Policy"));
        HttpResponse<String> open = answer(unreachable(), rules(form) + "limiter.rules.closed.on-failure = allow");
        assertEquals(200, open.statusCode());
    }

    /** The rule of the path that it was forwarded from has set its numbers before. */
    @ParameterizedTest
    @CsvSource({"draft-10, RateLimit RateLimit-Policy", "x-ratelimit, X-RateLimit-Limit X-RateLimit-Remaining"})
    void norIsOneThatAnotherRuleHasAdmittedBefore(String form, String sent) {
        String front = "limiter.rules.front.path = /front\nlimiter.rules.front.limits = 9/1m\n";
        HttpResponse<String> denied = answer(limiter, rules(form) + front);
        assertNoTime(denied);
        assertEquals(List.of("a=b", "c=d"), all(denied, "Set-Cookie"), "of others");
        List<String> names = denied.headers().map().keySet().stream()
                .map(name -> name.toLowerCase(Locale.ROOT))
                .filter(name -> name.contains("ratelimit"))
                .sorted()
                .toList();
        assertEquals(sent.toLowerCase(Locale.ROOT), String.join(" ", names));
    }
}
