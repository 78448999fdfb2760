package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.kit.Facts;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

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
            assertTold(
                    bean::vote,
                    "RL-128",
                    "NoKey.vote()",
                    "address",
                    "key = \"#user\"",
                    "key = \"global\"",
                    "CallerSource");
            assertTold(
                    bean::ofUser,
                    "RL-128",
                    "NoKey.ofUser()",
                    "address",
                    "key = \"#user\"",
                    "key = \"global\"",
                    "CallerSource");
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
            assertTold(
                    () -> values.failing(null),
                    "RL-132",
                    "Values.failing(Order)",
                    "key = \"#order.customer().trim()\"",
                    "SpelEvaluationException",
                    "#user?.name");
            String key = "key = \"#any\"";
            assertTold(
                    () -> values.any(new Object()),
                    "RL-132",
                    "Values.any(Object)",
                    key,
                    "java.lang.Object",
                    "#order.id");
            assertTold(
                    () -> values.any(List.of()),
                    "RL-132",
                    "Values.any(Object)",
                    key,
                    "empty list",
                    "1 to 32",
                    "key = \"global\"");
            assertTold(() -> values.any(new int[] {1}), "RL-132", "Values.any(Object)", key, "[I", "#order.id");
            for (Object wrong : List.of(-1, 1L << 53, 1.5, "2")) {
                String found = wrong instanceof Number && !(wrong instanceof Double)
                        ? " " + wrong
                        : wrong.getClass().getName();
                assertTold(
                        () -> values.permits(wrong),
                        "RL-132",
                        "Values.permits(Object)",
                        "permits = \"#any\"",
                        found,
                        "0 to 4503599627370496",
                        "#items.size()");
            }
            assertTold(
                    () -> values.condition(null),
                    "RL-132",
                    "Values.condition(Object)",
                    "condition = \"#any\"",
                    "null",
                    "true or false",
                    "#size > 10");
        }
    }

    /** Fails unless the call fails with this code, at this method of a class of this test, and the message contains the facts. */
    private static void assertTold(Executable call, String code, String method, String... facts) {
        String message = assertThrows(IllegalStateException.class, call).getMessage();
        Facts.told(message, code, "@RateLimited", HERE + method);
        Facts.told(message, code, facts);
    }
}
