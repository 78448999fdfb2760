package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** {@code @RateLimited(plan = ...)}: each caller has the limits of its plan, and always some. */
class PlansTest {
    private static final String PLANS = """
            limiter.plans.free.limits = 1/1h
            limiter.plans.gold.limits = 3/1h
            """;

    public record User(String name, @Nullable String plan) {}

    static class Exports {
        @RateLimited(plan = "#user.plan", defaultPlan = "free", key = "#user.name")
        public void export(@Nullable User user) {}

        @RateLimited(plan = "#user?.plan", defaultPlan = "free", key = "global", name = "other")
        public void other(@Nullable User user) {}
    }

    private static int allowed(Exports exports, String name, @Nullable String plan) {
        return App.passes(9, App.calling(() -> exports.export(new User(name, plan))));
    }

    @Test
    void aCallHasTheLimitsOfThePlan() {
        try (App app = App.of(PLANS, Exports.class)) {
            Exports exports = app.bean(Exports.class);
            assertEquals(3, allowed(exports, "ann", "gold"));
            assertEquals(1, allowed(exports, "bob", "free"));
            assertEquals(1, allowed(exports, "cid", null));
            assertEquals(1, allowed(exports, "dan", "platinum"));
            assertEquals(1, App.passes(9, App.calling(() -> exports.other(null))));
        }
    }

    @Test
    void thePoliciesOfPlansAreKnownAndChangeLive() {
        try (App app = App.of(PLANS, Exports.class)) {
            Exports exports = app.bean(Exports.class);
            Limiter limiter = app.context().getBean(Limiter.class);
            assertEquals(3, allowed(exports, "ann", "gold"));
            assertEquals(
                    Set.of("Exports.export.free", "Exports.export.gold", "other.free", "other.gold"),
                    limiter.policies().keySet());
            limiter.replace(App.config(PLANS.replace("3/1h", "5/1h") + "limiter.plans.silver.limits = 2/1h\n"));
            assertEquals(2, allowed(exports, "ann", "gold"));
            assertEquals(2, allowed(exports, "eve", "silver"));
            assertEquals(
                    5, limiter.policy("Exports.export.gold").limits().get(0).permits());
            assertTrue(limiter.policies().containsKey("other.silver"));
        }
    }
}
