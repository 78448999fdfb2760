package io.limiter.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.Looks;
import io.limiter.rule.PlanResolver;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;

/** {@code plan}, {@code default-plan} and {@code limiter.plans}: each caller has the limits of its plan, and always some. */
class PlansTest extends Served {
    private static final String PLANS = """
            limiter.plans.free.limits = 1/1h
            limiter.plans.gold.limits = 3/1h
            limiter.rules.api.path = /*
            limiter.rules.api.plan = header:X-Plan
            limiter.rules.api.default-plan = free
            """;
    private static final String BY_KEY = PLANS.replace("header:X-Plan", Lookup.class.getName())
            + "limiter.rules.api.key = header:X-Api-Key\nlimiter.plan-lookup.wait = 10s\n";

    private final Lookup lookup = new Lookup();
    private Limiter configured;

    /** A database. */
    public static final class Lookup implements PlanResolver {
        private final AtomicInteger lookups = new AtomicInteger();

        @Override
        public @Nullable String plan(String caller) {
            lookups.incrementAndGet();
            return caller.startsWith("gold") ? "gold" : caller.startsWith("platinum") ? "platinum" : null;
        }
    }

    private void start(Container.Kind kind, String rules) {
        configured = Limiter.of(WebServer.config(rules), limiter);
        RateLimitFilter filter = RateLimitFilter.builder(configured)
                .instances(type -> type == Lookup.class ? lookup : null)
                .build();
        server = kind.serve(directory, filter, WebServer.Answer.text("ok"));
    }

    /** How many of five requests are allowed. */
    private long allowed(String... headers) {
        return server.statuses(5, "/page", headers).stream()
                .filter(status -> status == 200)
                .count();
    }

    private void forget(String plan) {
        configured.policies().values().stream()
                .filter(policy -> policy.name().endsWith(plan))
                .forEach(policy -> limiter.reset(policy, PartitionKey.of("127.0.0.1")));
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
        assertEquals("\"api.gold\";q=3;w=3600", Container.field(gold, "RateLimit-Policy"));
        assertEquals("\"api.gold\";r=2;t=3600", Container.field(gold, "RateLimit"));
        server.get("/page");
        HttpResponse<String> denied = server.get("/page");
        assertEquals(429, denied.statusCode());
        assertTrue(denied.body().contains("\"violated-policies\":[\"api.free\"]"), denied.body());
        assertEquals(Set.of("api.free", "api.gold"), configured.policies().keySet());
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
        assertEquals(2, Looks.left(limiter, configured.policy("other.gold"), PartitionKey.of("127.0.0.1")) - 1);
    }

    @ParameterizedTest
    @EachContainer
    void aPlanThatIsNotConfiguredIsTheDefaultPlan(Container.Kind kind) throws Exception {
        start(kind, BY_KEY);
        assertEquals(List.of("RL-316"), FindingsTest.codes(() -> assertEquals(1, allowed("X-Api-Key", "platinum 1"))));
        assertEquals(1, lookup.lookups.get());
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
}
