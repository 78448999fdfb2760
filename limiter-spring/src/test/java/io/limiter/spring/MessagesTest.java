package io.limiter.spring;

import io.limiter.Decision;
import io.limiter.kit.Facts;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Mistakes are reported when the bean is created, with the method and the remedy. Mistakes in names: {@link
 * NameMessagesTest}. What
 * can't be known then: {@link CallMessagesTest}.
 */
class MessagesTest {
    private static final String VOTE = "limiter.policies.vote.limits = 3/10s\n";

    static class UnknownPolicy {
        @RateLimited(value = "vot", key = "global")
        public void vote(String choice, int weight) {}
    }

    @Test
    void unknownPolicy() {
        assertTold(
                UnknownPolicy.class,
                "vote(String, int)",
                "RL-120",
                "'vot'",
                "[vote]",
                "limiter.policies.vot.limits = 3/10s");
    }

    static class Both {
        @RateLimited(value = "vote", limits = "3/10s", key = "global")
        public void vote() {}
    }

    static class Neither {
        @RateLimited(key = "global")
        public void vote() {}
    }

    static class NamedTwice {
        @RateLimited(value = "vote", name = "other", key = "global")
        public void vote() {}
    }

    static class TwoFallbacks {
        @RateLimited(value = "vote", key = "global", fallback = "one")
        @RateLimited(limits = "1/1m", key = "global", fallback = "two")
        public void vote() {}

        void one() {}

        void two() {}
    }

    @Test
    void contradictions() {
        for (Class<?> wrong : List.of(Both.class, Neither.class)) {
            assertTold(
                    wrong,
                    "vote()",
                    "RL-121",
                    "@RateLimited(\"vote\")",
                    "limiter.policies.vote",
                    "limits = \"3/10s\"",
                    "plan = ",
                    "defaultPlan = ",
                    "keep or add one");
        }
        assertTold(NamedTwice.class, "vote()", "RL-121", "without a name", "keep or add one");
        assertTold(TwoFallbacks.class, "vote()", "RL-121", "[one, two]", "keep one");
    }

    static class WrongLimits {
        @RateLimited(limits = "3 per 10s", key = "global")
        public void vote() {}
    }

    @Test
    void limits() {
        assertTold(WrongLimits.class, "vote()", "RL-122", "limits = \"3 per 10s\"", "'3'", "such as 3/10s");
    }

    static class BrokenKey {
        @RateLimited(value = "vote", key = "#choice + ")
        public void vote(String choice) {}
    }

    static class BrokenCondition {
        @RateLimited(value = "vote", key = "global", condition = "#choice ==")
        public void vote(String choice) {}
    }

    static class BrokenPermits {
        @RateLimited(value = "vote", key = "global", permits = "2.")
        public void vote(String choice) {}
    }

    static class KeyOfARule {
        @RateLimited(value = "vote", key = "ip + header:X-Api-Key")
        public void vote(String choice) {}
    }

    @Test
    void brokenExpressions() {
        assertTold(BrokenKey.class, "vote(String)", "RL-123", "key = \"#choice + \"", "#user");
        assertTold(
                KeyOfARule.class,
                "vote(String)",
                "RL-123",
                "key = \"ip + header:X-Api-Key\"",
                "limiter.rules",
                "@RequestHeader(\"X-Api-Key\") String it",
                "#it");
        assertTold(BrokenCondition.class, "vote(String)", "RL-123", "condition = \"#choice ==\"", "#user");
        assertTold(BrokenPermits.class, "vote(String)", "RL-123", "permits = \"2.\"", "#user");
    }

    static class WrongParameter {
        @RateLimited(value = "vote", key = "{ip, #choise.trim()}")
        public void vote(String choice, int weight) {}
    }

    static class NoSign {
        @RateLimited(value = "vote", key = "choice")
        public void vote(String choice) {}
    }

    static class NoWord {
        @RateLimited(value = "vote", key = "all")
        public void vote(String choice) {}
    }

    static class NoBean {
        @RateLimited(value = "vote", key = "@keys.of(#choice)")
        public void vote(String choice) {}
    }

    @Test
    void namesThatAreNotThere() {
        assertTold(
                WrongParameter.class,
                "vote(String, int)",
                "RL-124",
                "key = \"{ip, #choise.trim()}\"",
                "'#choise'",
                "#choice, #weight");
        assertTold(NoSign.class, "vote(String)", "RL-124", "key = \"choice\"", "'choice'", "#choice");
        assertTold(
                NoWord.class,
                "vote(String)",
                "RL-124",
                "key = \"all\"",
                "'all'",
                "ip, user, principal, global",
                "quotes",
                "#all");
        assertTold(NoBean.class, "vote(String)", "RL-124", "key = \"@keys.of(#choice)\"", "'@keys'", "bean", "define");
    }

    static class OtherParameters {
        @RateLimited(value = "vote", key = "global", fallback = "later")
        public String vote(String choice) {
            return choice;
        }

        String later(int choice) {
            return "later";
        }
    }

    static class OtherResult {
        @RateLimited(value = "vote", key = "global", fallback = "later")
        public String vote(String choice) {
            return choice;
        }

        void later(String choice, Decision decision) {}
    }

    static class NoFallback {
        @RateLimited(value = "vote", key = "global", fallback = "vote")
        public void vote(String choice) {}
    }

    @Test
    void fallbacks() {
        assertTold(
                OtherParameters.class,
                "vote(String)",
                "RL-125",
                "fallback = \"later\"",
                "String later(int)",
                "String later(String)",
                "Decision");
        assertTold(
                OtherResult.class,
                "vote(String)",
                "RL-125",
                "fallback = \"later\"",
                "void later(String, Decision)",
                "String later(String)");
        assertTold(
                NoFallback.class,
                "vote(String)",
                "RL-125",
                "fallback = \"vote\"",
                "no other",
                "void vote(String)",
                "Decision");
    }

    static class Private {
        @RateLimited(value = "vote", key = "global")
        private void vote() {}
    }

    static class Static {
        @RateLimited(value = "vote", key = "global")
        static void vote() {}
    }

    static final class FinalClass {
        @RateLimited(value = "vote", key = "global")
        public void vote() {}
    }

    static class Final {
        @RateLimited(value = "vote", key = "global")
        public final void vote() {}
    }

    @Test
    void methodsThatNoProxyReaches() {
        assertTold(Private.class, "vote()", "RL-130", "private", "proxy", "another bean", "AspectJ");
        assertTold(Static.class, "vote()", "RL-130", "static", "proxy", "another bean", "AspectJ");
        assertTold(Final.class, "vote()", "RL-130", "is final", "proxy", "another bean", "AspectJ");
        assertTold(FinalClass.class, "vote()", "RL-130", "final class", "proxy", "another bean", "AspectJ");
    }

    static class SpecialStage extends CompletableFuture<String> {}

    static class StageOf {
        @RateLimited(value = "vote", key = "global")
        public SpecialStage vote() {
            return new SpecialStage();
        }
    }

    static class FlowOf {
        @RateLimited(value = "vote", key = "global")
        public java.util.concurrent.Flow.Publisher<String> vote() {
            return subscriber -> {};
        }
    }

    @Test
    void resultsThatWouldBlock() throws NoSuchMethodException {
        for (Class<?> bean : List.of(StageOf.class, FlowOf.class)) {
            assertTold(
                    bean,
                    "vote()",
                    "RL-131",
                    bean.getMethod("vote").getReturnType().getName(),
                    "CompletionStage, CompletableFuture",
                    "Mono, Flux",
                    "Publisher");
        }
    }

    /** Fails unless startup fails with this code, at this method of the bean, and the message contains the facts. */
    static void assertTold(Class<?> bean, String method, String code, String... facts) {
        String message = App.failure(VOTE, bean);
        Facts.told(message, code, "@RateLimited", bean.getName() + "." + method);
        Facts.told(message, code, facts);
    }
}
