package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Looks;
import io.limiter.rule.PlanResolver;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.security.Principal;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;

/** {@code plan}, {@code default-plan} and {@code limiter.plans}: each caller has the limits of its plan, and always some. */
class PlansTest {
    private static final String PLANS = """
            limiter.plans.free.limits = 1/1h
            limiter.plans.gold.limits = 3/1h
            limiter.rules.api.path = /*
            limiter.rules.api.plan = header:X-Plan
            limiter.rules.api.default-plan = free
            """;
    private static final String BY_KEY = PLANS.replace("header:X-Plan", Lookup.class.getName())
            + "limiter.rules.api.key = header:X-Api-Key\nlimiter.plan-lookup.wait = 5s\n";

    @TempDir
    Path directory;

    private final RateLimiter rateLimiter = RateLimiters.on(
            InProcessBackend.builder().timeSource(new ManualTime()).build());
    private final Lookup lookup = new Lookup();
    private Limiter limiter;
    private Container server;

    @AfterEach
    void stop() {
        if (server != null) {
            server.close();
        }
        rateLimiter.close();
    }

    /** A database that may be down, slow or wrong. */
    public static final class Lookup implements PlanResolver {
        private final AtomicInteger lookups = new AtomicInteger();
        private volatile @Nullable CountDownLatch slow;
        private volatile @Nullable String answer;
        private volatile boolean down;

        @Override
        public @Nullable String plan(String caller) throws Exception {
            lookups.incrementAndGet();
            if (down) {
                throw new IllegalStateException("the database is down");
            }
            if (slow != null) {
                slow.await(60, TimeUnit.SECONDS);
            }
            return answer != null ? answer : caller.startsWith("gold") ? "gold" : null;
        }
    }

    private void start(Container.Kind kind, String rules) {
        limiter = Limiter.of(WebServer.config(rules), rateLimiter);
        server = kind.make(directory)
                .filter(
                        "user",
                        (request, response, chain) -> chain.doFilter(new Known((HttpServletRequest) request), response))
                .filter(
                        "limiter",
                        RateLimitFilter.builder(limiter)
                                .instances(type -> type == Lookup.class ? lookup : null)
                                .build())
                .servlet("/", WebServer.Answer.text("ok"))
                .start();
    }

    /** How many of five requests are allowed. */
    private long allowed(String... headers) {
        return server.statuses(5, "/page", headers).stream()
                .filter(status -> status == 200)
                .count();
    }

    private void forget(String plan) {
        limiter.policies().values().stream()
                .filter(policy -> policy.name().endsWith(plan))
                .forEach(policy -> rateLimiter.reset(policy, PartitionKey.of("127.0.0.1")));
    }

    @ParameterizedTest
    @EachContainer
    void aHeaderThatIsMissingUnknownOrThereTwiceIsTheDefaultPlan(Container.Kind kind) {
        start(kind, PLANS);
        assertEquals(3, allowed("X-Plan", "gold"));
        assertEquals(1, allowed());
        for (String text : List.of("platinum", "GOLD", "gold,free", "api.gold", "", "gold gold")) {
            forget("free");
            assertEquals(1, allowed("X-Plan", text), text);
        }
        forget("free");
        assertEquals(1, allowed("X-Plan", "gold", "X-Plan", "gold"));
        forget("gold");
        assertEquals(3, allowed("X-Plan", " gold "));
    }

    @ParameterizedTest
    @EachContainer
    void fieldsAndDenialsNameThePlan(Container.Kind kind) {
        start(kind, PLANS);
        HttpResponse<String> gold = server.get("/page", "X-Plan", "gold");
        assertEquals(
                "\"api.gold\";q=3;w=3600",
                gold.headers().firstValue("RateLimit-Policy").orElse(""));
        assertEquals(
                "\"api.gold\";r=2;t=3600",
                gold.headers().firstValue("RateLimit").orElse(""));
        server.get("/page");
        HttpResponse<String> denied = server.get("/page");
        assertEquals(429, denied.statusCode());
        assertTrue(denied.body().contains("\"violated-policies\":[\"api.free\"]"), denied.body());
        assertEquals(Set.of("api.free", "api.gold"), limiter.policies().keySet());
    }

    @ParameterizedTest
    @EachContainer
    void twoRulesWithOnePlanAreTwoQuotas(Container.Kind kind) {
        start(
                kind,
                PLANS
                        + PLANS.replaceAll("(?m)^limiter.plans.*\n", "")
                                .replace(".api.", ".other.")
                                .replace("/*", "/other"));
        assertEquals(3, allowed("X-Plan", "gold"));
        assertEquals(429, server.get("/other", "X-Plan", "gold").statusCode());
        assertEquals(2, Looks.left(rateLimiter, limiter.policy("other.gold"), PartitionKey.of("127.0.0.1")) - 1);
    }

    @ParameterizedTest
    @EachContainer
    void aResolverIsAskedOnceForEachCaller(Container.Kind kind) {
        start(kind, BY_KEY);
        assertEquals(3, allowed("X-Api-Key", "gold 1"));
        assertEquals(3, allowed("X-Api-Key", "gold 2"));
        assertEquals(1, allowed("X-Api-Key", "other"));
        assertEquals(3, lookup.lookups.get());
        assertEquals(1, allowed());
        assertEquals(3, lookup.lookups.get(), "a caller without a key is nobody, and not looked up");
    }

    @ParameterizedTest
    @EachContainer
    void aDatabaseThatIsDownOrWrongLimitsEveryRequest(Container.Kind kind) throws Exception {
        start(kind, BY_KEY);
        lookup.down = true;
        assertEquals(1, allowed("X-Api-Key", "gold 1"));
        assertEquals(1, lookup.lookups.get(), "the failure is remembered");
        lookup.down = false;
        lookup.answer = "platinum";
        assertEquals(List.of("RL-316"), FindingsTest.codes(() -> assertEquals(1, allowed("X-Api-Key", "gold 2"))));
    }

    /** A hundred clients at once, in front of a database that does not answer. */
    @ParameterizedTest
    @EachContainer
    void aDatabaseThatHangsLimitsEveryRequest(Container.Kind kind) throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        lookup.slow = end;
        start(kind, BY_KEY.replace("wait = 5s", "wait = 40ms"));
        Map<Integer, Long> statuses = IntStream.range(0, 200)
                .mapToObj(i -> WebServer.CLIENT.sendAsync(
                        server.request("/page")
                                .header("X-Api-Key", "gold " + i % 100)
                                .build(),
                        HttpResponse.BodyHandlers.ofString()))
                .toList()
                .stream()
                .map(CompletableFuture::join)
                .collect(Collectors.groupingBy(HttpResponse::statusCode, Collectors.counting()));
        // The limit of the default plan for each: one.
        assertEquals(Map.of(200, 100L, 429, 100L), statuses);
        // After the end of one of them another one would have begun: no request has waited for an end.
        assertTrue(lookup.lookups.get() <= 4, "at once: " + lookup.lookups.get());
        end.countDown();
    }

    public record Customer(String getName, String plan) implements Principal {
        @Override
        public String getName() {
            return getName;
        }
    }

    @Test
    void whatIsFoundAtStartup() throws Exception {
        assertEquals(List.of("RL-168"), FindingsTest.codes(() -> WebServer.limiter(rateLimiter, PLANS)));
        String message = assertThrows(
                        IllegalArgumentException.class,
                        () -> WebServer.limiter(rateLimiter, PLANS.replace("header:X-Plan", "com.example.Nobody")))
                .getMessage();
        assertTrue(message.startsWith("RL-114 limiter.rules.api.plan = com.example.Nobody: can't be made"), message);
    }

    private static final class Known extends HttpServletRequestWrapper {
        Known(HttpServletRequest request) {
            super(request);
        }

        @Override
        public @Nullable Principal getUserPrincipal() {
            String plan = getHeader("Test-Plan");
            return plan == null ? null : new Customer("ann", plan);
        }
    }
}
