package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** What is wrong is said when the bean is made, with the method and the remedy. What can't be known then: {@link CallMessagesTest}. */
class MessagesTest {
    private static final String VOTE = "limiter.policies.vote.limits = 3/10s\n";
    private static final String HERE = MessagesTest.class.getName() + "$";

    static class UnknownPolicy {
        @RateLimited(value = "vot", key = "global")
        public void vote(String choice, int weight) {}
    }

    @Test
    void unknownPolicy() {
        assertEquals(
                "RL-120 @RateLimited at " + HERE
                        + "UnknownPolicy.vote(String, int): no policy 'vot' is configured; there are"
                        + " [vote]; write one of them, or add limiter.policies.vot.limits = 3/10s",
                App.failure(VOTE, UnknownPolicy.class));
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
        assertEquals(
                "RL-121 @RateLimited at " + HERE
                        + "Both.vote(): it names the policy 'vote' and has limits = \"3/10s\"; keep one"
                        + " of the two (limits of its own can have a name = \"...\")",
                App.failure(VOTE, Both.class));
        assertEquals(
                "RL-121 @RateLimited at " + HERE + "Neither.vote(): it has neither a policy nor limits; write"
                        + " @RateLimited(\"vote\") for limiter.policies.vote, or @RateLimited(limits = \"3/10s\")",
                App.failure(VOTE, Neither.class));
        assertEquals(
                "RL-121 @RateLimited at " + HERE
                        + "NamedTwice.vote(): name = \"other\" is for limits of its own, and the policy"
                        + " 'vote' has its name; leave the name out",
                App.failure(VOTE, NamedTwice.class));
        assertEquals(
                "RL-121 @RateLimited at " + HERE
                        + "TwoFallbacks.vote(): it has the fallbacks [one, two]; a method has one, so"
                        + " keep one of them",
                App.failure(VOTE, TwoFallbacks.class));
    }

    static class WrongLimits {
        @RateLimited(limits = "3 per 10s", key = "global")
        public void vote() {}
    }

    @Test
    void limits() {
        assertEquals(
                "RL-122 @RateLimited at " + HERE
                        + "WrongLimits.vote(): limits = \"3 per 10s\": in '3 per 10s': '3' is no limit;"
                        + " write permits/period without spaces, such as 3/10s",
                App.failure(VOTE, WrongLimits.class));
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
        String message = App.failure(VOTE, BrokenKey.class);
        assertStarts(
                "RL-123 @RateLimited at " + HERE + "BrokenKey.vote(String): key = \"#choice + \" is no expression (",
                message);
        assertTrue(message.endsWith("); write one such as #user"), message);
        message = App.failure(VOTE, KeyOfARule.class);
        assertTrue(
                message.contains("'header:' works in limiter.rules only")
                        && message.contains("@RequestHeader(\"X-Api-Key\") String it")
                        && message.contains("#it"),
                message);
        assertStarts(
                "RL-123 @RateLimited at " + HERE + "BrokenCondition.vote(String): condition = \"#choice ==\" is",
                App.failure(VOTE, BrokenCondition.class));
        assertStarts(
                "RL-123 @RateLimited at " + HERE + "BrokenPermits.vote(String): permits = \"2.\" is",
                App.failure(VOTE, BrokenPermits.class));
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
        assertEquals(
                "RL-124 @RateLimited at " + HERE
                        + "WrongParameter.vote(String, int): key = \"{ip, #choise.trim()}\": '#choise' is"
                        + " no parameter; there are #choice, #weight",
                App.failure(VOTE, WrongParameter.class));
        assertEquals(
                "RL-124 @RateLimited at " + HERE
                        + "NoSign.vote(String): key = \"choice\": 'choice' is no word; for the parameter"
                        + " write #choice",
                App.failure(VOTE, NoSign.class));
        assertEquals(
                "RL-124 @RateLimited at " + HERE
                        + "NoWord.vote(String): key = \"all\": 'all' is none of the words ip, user,"
                        + " principal, global; for a text write 'all' in quotes, for a parameter #all",
                App.failure(VOTE, NoWord.class));
        assertEquals(
                "RL-124 @RateLimited at " + HERE
                        + "NoBean.vote(String): key = \"@keys.of(#choice)\": '@keys' is no bean of this"
                        + " context; correct its name, or define it",
                App.failure(VOTE, NoBean.class));
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
        String fits =
                "; it needs the same parameters and a result that fits: String later(String), or with a Decision as one"
                        + " more parameter at the end";
        assertEquals(
                "RL-125 @RateLimited at " + HERE
                        + "OtherParameters.vote(String): fallback = \"later\": there is String later(int)" + fits,
                App.failure(VOTE, OtherParameters.class));
        assertEquals(
                "RL-125 @RateLimited at " + HERE
                        + "OtherResult.vote(String): fallback = \"later\": there is void later(String," + " Decision)"
                        + fits,
                App.failure(VOTE, OtherResult.class));
        assertStarts(
                "RL-125 @RateLimited at " + HERE
                        + "NoFallback.vote(String): fallback = \"vote\": there is no other method of that" + " name in "
                        + HERE + "NoFallback;",
                App.failure(VOTE, NoFallback.class));
    }

    static class Overloaded {
        @RateLimited(limits = "3/10s", key = "global")
        public void vote(String choice) {}

        @RateLimited(limits = "5/10s", key = "global")
        public void vote(int choice) {}
    }

    static class Elsewhere {
        static class Named {
            @RateLimited(limits = "3/10s", key = "global")
            public void vote() {}
        }
    }

    static class Named {
        @RateLimited(limits = "3/10s", key = "global")
        public void vote() {}
    }

    static class Copied {
        @RateLimited(limits = "3/10s", name = "sms", key = "global")
        public void one() {}

        @RateLimited(limits = "3/10s", name = "sms", key = "global")
        public void other() {}
    }

    @Test
    void namesSharedByAccident() {
        String message = App.failure("", Overloaded.class);
        assertTrue(
                message.matches(
                        ".*Overloaded.vote\\((String|int)\\): its policy would be called 'Overloaded.vote', which is the one"
                                + " of .*Overloaded.vote\\((String|int)\\), and they would use one quota; give this one name ="
                                + " \"\\.\\.\\.\", or if they are to share, configure limiter.policies.<name>.limits and name that"
                                + " policy in both"),
                message);
        assertStarts("RL-126 @RateLimited at ", message);
        assertStarts("RL-126", App.failure("", Named.class, Elsewhere.Named.class));
        assertStarts("RL-126", App.failure("", Copied.class));
        assertEquals(
                "RL-126 @RateLimited at " + HERE
                        + "Named.vote(): its policy would be called 'Named.vote', which is the one of"
                        + " the configuration, and they would use one quota; give this one name = \"...\", or if"
                        + " they are to share, configure limiter.policies.<name>.limits and name that policy in both",
                App.failure("limiter.policies.Named.vote.limits = 1/1s", Named.class));
        assertTrue(
                App.failure("limiter.rules.Named.vote.limits = 1/1s\nlimiter.rules.Named.vote.path = /*", Named.class)
                        .contains("which is the one of the configuration,"));
    }

    static class ANameThatIsLongerThanItsReadersWouldLike {
        @RateLimited(limits = "3/10s", key = "global")
        public void aMethodWhoseNameIsLongToo() {}
    }

    static class Spaced {
        @RateLimited(limits = "3/10s", name = "my votes", key = "global")
        public void vote() {}
    }

    @Test
    void unfitNames() {
        assertEquals(
                "RL-127 @RateLimited at " + HERE
                        + "ANameThatIsLongerThanItsReadersWouldLike.aMethodWhoseNameIsLongToo(): the"
                        + " policy would be called 'ANameThatIsLongerThanItsReadersWouldLike.aMethodWhoseNameIsLongToo', and"
                        + " a name is 1 to 64 of A-Z a-z 0-9 . _ -; give it another with name = \"...\"",
                App.failure("", ANameThatIsLongerThanItsReadersWouldLike.class));
        assertEquals(
                "RL-127 @RateLimited at " + HERE
                        + "Spaced.vote(): name = \"my votes\", and a name is 1 to 64 of A-Z a-z 0-9 . _"
                        + " -; give it another with name = \"...\"",
                App.failure("", Spaced.class));
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
        String remedy =
                ", so a proxy can't limit it; change that, move it to another bean, or weave the class by AspectJ";
        assertEquals(
                "RL-130 @RateLimited at " + HERE + "Private.vote(): the method is private" + remedy,
                App.failure(VOTE, Private.class));
        assertEquals(
                "RL-130 @RateLimited at " + HERE + "Static.vote(): the method is static" + remedy,
                App.failure(VOTE, Static.class));
        assertEquals(
                "RL-130 @RateLimited at " + HERE + "Final.vote(): the method is final" + remedy,
                App.failure(VOTE, Final.class));
        assertEquals(
                "RL-130 @RateLimited at " + HERE + "FinalClass.vote(): the method is of a final class" + remedy,
                App.failure(VOTE, FinalClass.class));
    }

    static class Special {
        @RateLimited(value = "vote", key = "global")
        public FutureTask<String> vote() {
            return new FutureTask<>(() -> "x");
        }
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
    void resultsThatWouldBlock() {
        assertEquals(
                "RL-131 @RateLimited at " + HERE
                        + "Special.vote(): it returns java.util.concurrent.FutureTask, which can't be"
                        + " made before it is decided; return CompletionStage, CompletableFuture, Future, or with Reactor"
                        + " Mono, Flux or Publisher",
                App.failure(VOTE, Special.class));
        assertStarts("RL-131", App.failure(VOTE, StageOf.class));
        assertStarts("RL-131", App.failure(VOTE, FlowOf.class));
    }

    private static void assertStarts(String start, String message) {
        assertTrue(message.startsWith(start), message);
    }
}
