package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.LimitOutcome.DenialReason;
import org.junit.jupiter.api.Test;

/** {@code @RateLimited} with a stock. */
class StocksTest {
    private static final String POLICIES = """
            limiter.policies.sale.limits = 5 allotment each 2 closes 2100-01-01T00:00:00Z
            """;

    static class Shop {
        @RateLimited(value = "sale", key = "global", member = "#user", permits = "#quantity")
        public void buy(String user, int quantity) {}
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
}
