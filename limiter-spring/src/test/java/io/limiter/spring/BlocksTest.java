package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
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

    static class Waits {
        @RateLimited(value = "login", key = "#account", maxWait = "500ms")
        public CompletableFuture<String> named(String account) {
            return CompletableFuture.completedFuture(account);
        }
    }

    static class Wrong {
        @RateLimited(limits = "1/1h", block = "2/10m", key = "#account")
        public String own(String account) {
            return account;
        }
    }

    static class Both {
        @RateLimited(value = "login", block = "2/10m for 15m up to 24h", key = "#account")
        public String named(String account) {
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

    @Test
    void whatDoesNotFitFailsStartup() {
        refused("RL-177", Waits.class);
        refused("RL-176", Wrong.class);
        refused("RL-121", Both.class);
    }

    private static void refused(String code, Class<?> bean) {
        Throwable thrown =
                assertThrows(RuntimeException.class, () -> App.of(LOGIN, bean).close());
        StringBuilder all = new StringBuilder();
        for (Throwable one = thrown; one != null; one = one.getCause()) {
            all.append(one.getMessage()).append('\n');
        }
        assertTrue(all.toString().contains(code), all.toString());
    }
}
