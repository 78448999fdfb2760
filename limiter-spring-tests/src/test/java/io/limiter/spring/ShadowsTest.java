package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import ch.qos.logback.classic.Level;
import io.limiter.kit.Facts;
import io.limiter.kit.LogLines;
import org.junit.jupiter.api.Test;

/** Shadow annotations never stop a call, whatever is wrong with them, and count what enforced ones would. */
class ShadowsTest {
    private static final String NINE = "limiter.policies.nine.limits = 9/1h\n";

    public record Customer(String name) {}

    static class TriedOut {
        @RateLimited(value = "nine", key = "#customer.name", shadow = true)
        public String ofCustomer(Customer customer) {
            return "done";
        }

        @RateLimited(value = "nine", shadow = true)
        public String ofClient() {
            return "done";
        }

        @RateLimited(value = "nine", key = "global", condition = "#yes", permits = "#yes", shadow = true)
        public String ofNonsense(String yes) {
            return "done";
        }
    }

    @Test
    void mistakesInThemDenyNobody() {
        try (App app = App.of(NINE, TriedOut.class);
                LogLines log = new LogLines()) {
            TriedOut tried = app.bean(TriedOut.class);
            for (int i = 0; i < 3; i++) {
                assertEquals("done", tried.ofCustomer(null));
                assertEquals("done", tried.ofClient());
                assertEquals("done", tried.ofNonsense("maybe"));
            }
            // Once a minute for a policy.
            Facts.told(
                    log.only(Level.WARN, "RL-133"),
                    "RL-133",
                    "shadow policy 'nine'",
                    "RL-132",
                    TriedOut.class.getName() + ".ofCustomer(Customer)",
                    "key = \"#customer.name\"",
                    "#user?.name");
            assertEquals("done", tried.ofCustomer(new Customer("alice")));
            assertEquals(8, app.left("nine", "alice"), "what can be counted is");
        }
    }

    static class Several {
        @RateLimited(value = "nine", key = "'two'", shadow = true)
        @RateLimited(value = "nine", key = "'two'", permits = "2", shadow = true)
        public void twoShadows() {}

        @RateLimited(value = "nine", key = "'both'")
        @RateLimited(value = "nine", key = "'both'", shadow = true)
        public void oneOfEach() {}
    }

    @Test
    void onePolicyAndKeyIsChargedOnce() {
        try (App app = App.of(NINE, Several.class)) {
            app.bean(Several.class).twoShadows();
            assertEquals(7, app.left("nine", "two"), "the larger");
            app.bean(Several.class).oneOfEach();
            assertEquals(8, app.left("nine", "both"));
        }
    }
}
