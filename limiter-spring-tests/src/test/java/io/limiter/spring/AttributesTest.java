package io.limiter.spring;

import static io.limiter.spring.App.calling;
import static io.limiter.spring.App.passes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.kit.Facts;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each attribute: another value of it, another decision. */
class AttributesTest {
    private static final String POLICIES = """
            limiter.policies.three.limits = 3/10s
            limiter.policies.one.limits = 1/10s
            limiter.policies.none.limits = 0/10s
            """;

    static class Named {
        @RateLimited(value = "three", key = "global")
        public void three() {}

        @RateLimited(value = "one", key = "global")
        public void one() {}

        @RateLimited(value = "one", key = "global")
        public void oneToo() {}
    }

    @Test
    void valueNamesThePolicyWhichMethodsShare() {
        try (App app = App.of(POLICIES, Named.class)) {
            Named named = app.bean(Named.class);
            assertEquals(3, passes(9, calling(named::three)));
            assertEquals(1, passes(9, calling(named::one)));
            assertEquals(0, passes(9, calling(named::oneToo)));
            app.time.advance(Duration.ofSeconds(10));
            assertEquals(1, passes(9, calling(named::oneToo)));
        }
    }

    static class Own {
        @RateLimited(limits = "2/10s sliding-list", key = "global")
        public void two() {}

        @RateLimited(limits = "5/10s fixed, 4/1h name hourly", key = "global")
        public void four() {}
    }

    @Test
    void limitsAreItsOwn() {
        try (App app = App.of("", Own.class)) {
            Own own = app.bean(Own.class);
            assertEquals(2, passes(9, calling(own::two)));
            assertEquals(4, passes(9, calling(own::four)));
            RateLimitExceededException denied = assertThrows(RateLimitExceededException.class, own::four);
            assertEquals("hourly", denied.decision().violated().get(0).limit().name());
            Facts.toldInOneLine(String.valueOf(denied.getMessage()), "denied", "Own.four/hourly", "3600000 ms");
            assertEquals(0, denied.getStackTrace().length);
        }
    }

    record Order(String customer, int items) {}

    static class Keyed {
        @RateLimited("one")
        public void byDefault() {}

        @RateLimited(value = "one", key = "#order.customer()")
        public void ofParameter(Order order) {}

        @RateLimited(value = "one", key = "{#p0, user}")
        public void ofParts(String account) {}

        @RateLimited(value = "one", key = "@plans.of(#account)")
        public void ofBean(String account) {}
    }

    @org.springframework.stereotype.Component("plans")
    public static class Plans {
        public String of(String account) {
            return account.startsWith("g") ? "gold" : "other";
        }
    }

    @Test
    void keySaysWhoseQuota() {
        try (App app = App.of(POLICIES, Keyed.class, Plans.class)) {
            Keyed keyed = app.bean(Keyed.class);
            assertEquals(1, passes(3, "192.0.2.1", null, calling(keyed::byDefault)));
            assertEquals(1, passes(3, "192.0.2.2", null, calling(keyed::byDefault)));
            assertEquals(0, app.left("one", PartitionKey.of("192.0.2.1")), "the key of the filter's rules");

            assertEquals(1, passes(3, calling(() -> keyed.ofParameter(new Order("alice", 1)))));
            assertEquals(1, passes(3, calling(() -> keyed.ofParameter(new Order("bob", 1)))));

            assertEquals(1, passes(3, "192.0.2.1", "u", calling(() -> keyed.ofParts("a:b"))));
            assertEquals(1, passes(3, "192.0.2.1", "b:u", calling(() -> keyed.ofParts("a"))), "no part forges another");

            assertEquals(1, passes(3, calling(() -> keyed.ofBean("g1"))));
            assertEquals(0, passes(3, calling(() -> keyed.ofBean("g2"))));
            assertEquals(1, passes(3, calling(() -> keyed.ofBean("s1"))));
        }
    }

    static class Costly {
        @RateLimited(value = "three", key = "'constant'", permits = "2")
        public void two() {}

        @RateLimited(value = "three", key = "'each'", permits = "#items.size()")
        public void each(List<String> items) {}
    }

    @Test
    void permitsAreWhatACallCosts() {
        try (App app = App.of(POLICIES, Costly.class)) {
            Costly costly = app.bean(Costly.class);
            assertEquals(1, passes(9, calling(costly::two)));
            assertTrue(passes(calling(() -> costly.each(List.of("a", "b")))));
            assertFalse(passes(calling(() -> costly.each(List.of("a", "b")))));
            assertTrue(passes(calling(() -> costly.each(List.of("a")))));
            assertEquals(9, passes(9, calling(() -> costly.each(List.of()))), "what asks for nothing passes");
        }
    }

    static class Conditional {
        @RateLimited(value = "one", key = "global", condition = "#size > 10")
        public void large(int size) {}
    }

    @Test
    void conditionSaysForWhichCalls() {
        try (App app = App.of(POLICIES, Conditional.class)) {
            Conditional conditional = app.bean(Conditional.class);
            assertEquals(9, passes(9, calling(() -> conditional.large(10))));
            assertEquals(1, passes(9, calling(() -> conditional.large(11))));
        }
    }

    static class Answered {
        @RateLimited(value = "one", key = "global", fallback = "tooMany")
        public String greet(String name) {
            return "hello " + name;
        }

        private String tooMany(String name, Decision decision) {
            return "later " + name + " " + decision.retryAfter().orElseThrow().toSeconds();
        }
    }

    static class Static {
        @RateLimited(value = "none", key = "global", fallback = "never")
        public String twice(String name) {
            return name + name;
        }

        static String never(String name) {
            return "once " + name;
        }

        @RateLimited(value = "none", key = "global", fallback = "thrown")
        public void failing() {}

        private void thrown() {
            throw new IllegalArgumentException("from the fallback");
        }
    }

    @Test
    void fallbackAnswersWhatIsDenied() {
        try (App app = App.of(POLICIES, Answered.class, Static.class)) {
            Answered answered = app.bean(Answered.class);
            assertEquals("hello bob", answered.greet("bob"));
            assertEquals("later bob 10", answered.greet("bob"));
            assertEquals("once bob", app.bean(Static.class).twice("bob"));
            assertEquals(
                    "from the fallback",
                    assertThrows(IllegalArgumentException.class, app.bean(Static.class)::failing)
                            .getMessage());
        }
    }

    static class Watched {
        @RateLimited(value = "one", key = "global", shadow = true)
        public void watched() {}

        @RateLimited(value = "one", key = "'both'", shadow = true)
        @RateLimited(value = "three", key = "'both'")
        public void both() {}
    }

    @Test
    void shadowCountsAndReportsAndDeniesNothing() {
        try (App app = App.of(POLICIES, Watched.class);
                LogLines log = new LogLines()) {
            Watched watched = app.bean(Watched.class);
            assertEquals(9, passes(9, calling(watched::watched)));
            assertEquals(1, app.rateLimiter.monitor().allowed("one", Decision.Source.IN_PROCESS));
            assertEquals(8, app.rateLimiter.monitor().denied("one", Decision.Source.IN_PROCESS));
            // Once a minute.
            String line = log.only(Level.WARN, "RL-133");
            Facts.told(line, "RL-133", "shadow", "'one'", "denied", Watched.class.getName() + ".watched()");

            assertEquals(3, passes(9, calling(watched::both)), "the other annotation denies");
        }
    }

    static class Failing {
        @RateLimited(value = "one", key = "global", refundOn = IllegalStateException.class)
        public void fail(RuntimeException failure) {
            throw failure;
        }

        @RateLimited(value = "one", key = "'two'", refundOn = IllegalStateException.class)
        @RateLimited(value = "three", key = "'two'")
        @RateLimited(limits = "9/10s", name = "shadowed", key = "global", shadow = true, refundOn = Exception.class)
        public void failTwo(RuntimeException failure) {
            throw failure;
        }

        @RateLimited(value = "three", key = "'third'", refundOn = RuntimeException.class)
        @RateLimited(value = "three", key = "'third'", refundOn = IllegalStateException.class)
        public void givenBackByBoth(RuntimeException failure) {
            throw failure;
        }
    }

    /** That one annotation keeps it: see {@link RefundsTest}. */
    @Test
    void aSharedChargeIsGivenBackIfEachAnnotationSaysSo() {
        try (App app = App.of(POLICIES, Failing.class)) {
            Failing failing = app.bean(Failing.class);
            IllegalStateException failure = new IllegalStateException();
            assertThrows(IllegalStateException.class, () -> failing.givenBackByBoth(failure));
            assertEquals(3, app.left("three", "third"));
            assertThrows(IllegalArgumentException.class, () -> failing.givenBackByBoth(new IllegalArgumentException()));
            assertEquals(2, app.left("three", "third"));
        }
    }

    @Test
    void refundOnGivesBackWhatAFailedCallTook() {
        try (App app = App.of(POLICIES, Failing.class)) {
            Failing failing = app.bean(Failing.class);
            IllegalStateException free = new IllegalStateException("free");
            IllegalArgumentException costs = new IllegalArgumentException("costs");
            for (int i = 0; i < 9; i++) {
                assertEquals(free, assertThrows(IllegalStateException.class, () -> failing.fail(free)));
            }
            assertEquals(costs, assertThrows(IllegalArgumentException.class, () -> failing.fail(costs)));
            assertThrows(RateLimitExceededException.class, () -> failing.fail(free));

            for (int i = 0; i < 3; i++) {
                assertThrows(IllegalStateException.class, () -> failing.failTwo(free));
                assertEquals(1, app.left("one", "two"), "given back");
                assertEquals(2 - i, app.left("three", "two"), "its annotation does not say so");
                assertEquals(9, app.left("shadowed", PartitionKey.global()), "also what only counts");
            }
        }
    }

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

    @RateLimited(value = "one", key = "global", fallback = "greet")
    static class Overloaded {
        public String greet(String name) {
            return "hello " + name;
        }

        public String greet(String name, Decision decision) {
            return "later " + name;
        }
    }

    @Test
    void itsFallbackIsNotLimitedByIt() {
        try (App app = App.of(POLICIES, Overloaded.class)) {
            Overloaded overloaded = app.bean(Overloaded.class);
            assertEquals("hello bob", overloaded.greet("bob"));
            assertEquals("later bob", overloaded.greet("bob"));
            assertEquals("later ann", overloaded.greet("ann", null));
        }
    }
}
