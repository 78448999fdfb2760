package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Annotations whose policies block after denials. */
class BlocksTest {
    private static final String LOGIN =
            "limiter.policies.login.limits = 1/1h\n" + "limiter.policies.login.block = 2/10m for 15m up to 24h\n";

    static class Logins {
        @RateLimited(value = "login", key = "#account")
        public String named(String account) {
            return account;
        }

        @RateLimited(limits = "1/1h", block = "2/10m for 15m up to 24h", name = "own", key = "#account")
        public String own(String account) {
            return account;
        }
    }

    private static boolean isBlocked(Runnable call) {
        return assertThrows(RateLimitExceededException.class, call::run)
                .decision()
                .blocked();
    }

    @Test
    void repeatedDenialsBlock() {
        try (App app = App.of(LOGIN, Logins.class)) {
            Logins logins = app.bean(Logins.class);
            logins.named("ann");
            assertFalse(isBlocked(() -> logins.named("ann")));
            assertTrue(isBlocked(() -> logins.named("ann")));
            logins.own("ann");
            assertFalse(isBlocked(() -> logins.own("ann")));
            assertTrue(isBlocked(() -> logins.own("ann")));
            assertEquals("bob", logins.named("bob"));
        }
    }
}
