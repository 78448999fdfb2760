package io.limiter.spring;

import io.limiter.kit.Facts;
import org.junit.jupiter.api.Test;

/** Values that are wrong for every call are reported when the bean is created. */
class ConstantsTest {
    private static final String VOTE = "limiter.policies.vote.limits = 3/10s\n";

    static class NegativeCost {
        @RateLimited(value = "vote", key = "global", permits = "-1")
        public void vote() {}
    }

    static class BrokenCost {
        @RateLimited(value = "vote", key = "global", permits = "1.5")
        public void vote() {}
    }

    static class NoCost {
        @RateLimited(value = "vote", key = "global", permits = " ")
        public void vote() {}
    }

    static class TooDear {
        @RateLimited(value = "vote", key = "global", permits = "4")
        public void vote() {}
    }

    static class NoCondition {
        @RateLimited(value = "vote", key = "global", condition = "'yes'")
        public void vote() {}
    }

    static class RootParameter {
        @RateLimited(value = "vote", key = "#root")
        public void vote(String root) {}
    }

    @Test
    void valuesThatNoCallCanChange() {
        assertTold(
                NegativeCost.class,
                "vote()",
                "RL-132",
                "permits = \"-1\"",
                " -1",
                "0 to 4503599627370496",
                "#items.size()");
        assertTold(
                BrokenCost.class,
                "vote()",
                "RL-132",
                "permits = \"1.5\"",
                "java.lang.Double",
                "0 to 4503599627370496",
                "#items.size()");
        assertTold(NoCost.class, "vote()", "RL-123", "permits = \" \"", "#user");
        assertTold(
                TooDear.class,
                "vote()",
                "RL-132",
                "permits = \"4\"",
                "'3/10s sliding-list name vote'",
                "'vote'",
                "lower",
                "raise");
        assertTold(
                NoCondition.class,
                "vote()",
                "RL-132",
                "condition = \"'yes'\"",
                "java.lang.String",
                "true or false",
                "#size > 10");
        assertTold(RootParameter.class, "vote(String)", "RL-124", "key = \"#root\"", "'#root'", "#p0");
    }

    /** Fails unless startup fails with this code, at this method of the bean, and the message contains the facts. */
    private static void assertTold(Class<?> bean, String method, String code, String... facts) {
        String message = App.failure(VOTE, bean);
        Facts.told(message, code, "@RateLimited", bean.getName() + "." + method);
        Facts.told(message, code, facts);
    }
}
