package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** What only a call can show to be wrong. */
class CallMessagesTest {
    private static final String VOTE = "limiter.policies.vote.limits = 3/10s\n";
    private static final String HERE = CallMessagesTest.class.getName() + "$";

    static class NoKey {
        @RateLimited("vote")
        public void vote() {}

        @RateLimited(value = "vote", key = "{'x', user}")
        public void ofUser() {}
    }

    @Test
    void noKeyOutsideOfARequest() {
        try (App app = App.of(VOTE, NoKey.class)) {
            NoKey bean = app.bean(NoKey.class);
            String remedy =
                    "the key is the client's address, and the call belongs to no web request; give a key of parameters,"
                            + " such as key = \"#user\", or key = \"global\" for one quota of all callers (requests are known in"
                            + " Spring MVC, or from a CallerSource)";
            assertEquals(
                    "RL-128 @RateLimited at " + HERE + "NoKey.vote(): " + remedy,
                    assertThrows(IllegalStateException.class, bean::vote).getMessage());
            assertEquals(
                    "RL-128 @RateLimited at " + HERE + "NoKey.ofUser(): " + remedy,
                    assertThrows(IllegalStateException.class, bean::ofUser).getMessage());
        }
    }

    record Order(String customer) {}

    static class Values {
        @RateLimited(value = "vote", key = "#order.customer().trim()")
        public void failing(Order order) {}

        @RateLimited(value = "vote", key = "#any")
        public void any(Object any) {}

        @RateLimited(value = "vote", key = "global", permits = "#any")
        public void permits(Object any) {}

        @RateLimited(value = "vote", key = "global", condition = "#any")
        public void condition(Object any) {}
    }

    @Test
    void valuesThatCanNotBeUsed() {
        try (App app = App.of(VOTE, Values.class)) {
            Values values = app.bean(Values.class);
            assertEquals(
                    "RL-132 @RateLimited at " + HERE
                            + "Values.failing(Order): key = \"#order.customer().trim()\" failed"
                            + " (SpelEvaluationException); write it so that it has a value for every call, for example"
                            + " #user?.name",
                    assertThrows(IllegalStateException.class, () -> values.failing(null))
                            .getMessage());
            String text = "; give a text, a number or something else that has one text: #order.id, not #order";
            assertEquals(
                    "RL-132 @RateLimited at " + HERE
                            + "Values.any(Object): key = \"#any\" gave a part of type java.lang.Object" + text,
                    assertThrows(IllegalStateException.class, () -> values.any(new Object()))
                            .getMessage());
            assertEquals(
                    "RL-132 @RateLimited at " + HERE
                            + "Values.any(Object): key = \"#any\" gave an empty list; give 1 to 32"
                            + " parts, or key = \"global\"",
                    assertThrows(IllegalStateException.class, () -> values.any(List.of()))
                            .getMessage());
            assertTrue(assertThrows(IllegalStateException.class, () -> values.any(new int[] {1}))
                    .getMessage()
                    .contains("a part of type [I"));
            String cost = "; a cost is a whole number from 0 to 4503599627370496, such as #items.size()";
            for (Object wrong : List.of(-1, 1L << 53, 1.5, "2")) {
                String found = wrong instanceof Number && !(wrong instanceof Double)
                        ? "the number " + wrong
                        : "a " + wrong.getClass().getName();
                assertEquals(
                        "RL-132 @RateLimited at " + HERE + "Values.permits(Object): permits = \"#any\" gave " + found
                                + cost,
                        assertThrows(IllegalStateException.class, () -> values.permits(wrong))
                                .getMessage());
            }
            assertEquals(
                    "RL-132 @RateLimited at " + HERE
                            + "Values.condition(Object): condition = \"#any\" gave null; a condition is"
                            + " true or false, such as #size > 10",
                    assertThrows(IllegalStateException.class, () -> values.condition(null))
                            .getMessage());
        }
    }
}
