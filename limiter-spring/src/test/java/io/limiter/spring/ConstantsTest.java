package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** Values that are wrong for every call are told when the bean is made. */
class ConstantsTest {
    private static final String VOTE = "limiter.policies.vote.limits = 3/10s\n";
    private static final String HERE = ConstantsTest.class.getName() + "$";

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
        String cost = "; a cost is a whole number from 0 to 4503599627370496, such as #items.size()";
        assertEquals(
                "RL-132 @RateLimited at " + HERE + "NegativeCost.vote(): permits = \"-1\" gave the number -1" + cost,
                App.failure(VOTE, NegativeCost.class));
        assertEquals(
                "RL-132 @RateLimited at " + HERE + "BrokenCost.vote(): permits = \"1.5\" gave a java.lang.Double"
                        + cost,
                App.failure(VOTE, BrokenCost.class));
        assertTrue(App.failure(VOTE, NoCost.class)
                .startsWith("RL-123 @RateLimited at " + HERE + "NoCost.vote(): permits = \" \" is no expression"));
        assertEquals(
                "RL-132 @RateLimited at " + HERE
                        + "TooDear.vote(): permits = \"4\" gave a cost of 4, and the limit '3/10s sliding-list name vote' of"
                        + " policy 'vote' never has more than 3; no call could ever pass; lower the cost or raise the limit",
                App.failure(VOTE, TooDear.class));
        assertEquals(
                "RL-132 @RateLimited at " + HERE
                        + "NoCondition.vote(): condition = \"'yes'\" gave a java.lang.String; a condition is true or false,"
                        + " such as #size > 10",
                App.failure(VOTE, NoCondition.class));
        assertEquals(
                "RL-124 @RateLimited at " + HERE
                        + "RootParameter.vote(String): key = \"#root\": '#root' is a word of the language; for a parameter of"
                        + " that name write its position, #p0",
                App.failure(VOTE, RootParameter.class));
    }
}
