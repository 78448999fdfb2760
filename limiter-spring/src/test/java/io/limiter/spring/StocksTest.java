package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import ch.qos.logback.classic.Level;
import io.limiter.DenialReason;
import io.limiter.kit.LogLines;
import org.junit.jupiter.api.Test;

/** {@code @RateLimited} with a stock. */
class StocksTest {
    private static final String POLICIES = """
            limiter.policies.sale.limits = 5 allotment each 2
            limiter.policies.sale.closes = 2100-01-01T00:00:00Z
            limiter.plans.free.limits = 1 allotment closes 2100-01-01T00:00:00Z
            limiter.plans.gold.limits = 3/1h distinct repeat deny
            """;

    static class Shop {
        @RateLimited(value = "sale", key = "global", member = "#user", permits = "#quantity")
        public void buy(String user, int quantity) {}

        @RateLimited(
                limits = "1 allotment closes 2100-01-01T00:00:00Z",
                name = "one",
                key = "global",
                member = "#user",
                refundOn = IllegalStateException.class)
        public void book(String user, boolean fails) {
            if (fails) {
                throw new IllegalStateException(user);
            }
        }

        @RateLimited(plan = "#plan", defaultPlan = "free", name = "plans", key = "global", member = "#user")
        public void byPlan(String plan, String user) {}
    }

    static class PerCaller {
        @RateLimited(value = "sale", key = "ip", member = "#user")
        public void ip(String user) {}

        @RateLimited(value = "sale", key = "{user, #event}", member = "#item")
        public void user(String event, String item) {}

        @RateLimited(value = "sale", key = "#event", member = "user")
        public void event(String event) {}
    }

    @Test
    void aStockForEachCallerIsReported() {
        try (LogLines log = new LogLines();
                App app = App.of(POLICIES, PerCaller.class)) {
            assertEquals(2, log.of(Level.WARN, "RL-178").size());
            assertNotNull(app);
        }
    }

    private static DenialReason denied(Runnable call) {
        return assertThrows(RateLimitExceededException.class, call::run)
                .decision()
                .binding()
                .orElseThrow()
                .reason();
    }

    @Test
    void aCallBuysWhatItCosts() {
        try (App app = App.of(POLICIES, Shop.class)) {
            Shop shop = app.bean(Shop.class);
            shop.buy("ann", 2);
            assertEquals(DenialReason.ALREADY_HAD, denied(() -> shop.buy("ann", 1)));
            assertEquals(DenialReason.QUANTITY, denied(() -> shop.buy("bob", 3)));
            shop.buy("bob", 2);
            assertEquals(DenialReason.SOLD_OUT, denied(() -> shop.buy("eve", 2)));
            shop.buy("eve", 0);
            shop.buy("eve", 1);
        }
    }

    @Test
    void aCallThatFailsReturnsWhatItBought() {
        try (App app = App.of(POLICIES, Shop.class)) {
            Shop shop = app.bean(Shop.class);
            assertThrows(IllegalStateException.class, () -> shop.book("ann", true));
            shop.book("bob", false);
            assertEquals(DenialReason.SOLD_OUT, denied(() -> shop.book("ann", true)));
            assertEquals(DenialReason.ALREADY_HAD, denied(() -> shop.book("bob", true)));
        }
    }

    @Test
    void aPlanHasAStock() {
        try (App app = App.of(POLICIES, Shop.class)) {
            Shop shop = app.bean(Shop.class);
            shop.byPlan("gold", "ann");
            assertEquals(DenialReason.QUOTA, denied(() -> shop.byPlan("gold", "ann")));
            shop.byPlan("unknown", "ann");
            assertEquals(DenialReason.SOLD_OUT, denied(() -> shop.byPlan("free", "bob")));
        }
    }
}
