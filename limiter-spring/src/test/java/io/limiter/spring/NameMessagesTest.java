package io.limiter.spring;

import static io.limiter.spring.MessagesTest.assertTold;

import io.limiter.kit.Facts;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A name that two limits share by accident, or that no policy can have, is reported when the bean is created. */
class NameMessagesTest {
    private static final String HERE = NameMessagesTest.class.getName() + "$";

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
        String remedy = "limiter.policies.<name>.limits";
        Facts.told(
                App.failure("", Overloaded.class),
                "RL-126",
                "@RateLimited",
                "'Overloaded.vote'",
                HERE + "Overloaded.vote(String)",
                HERE + "Overloaded.vote(int)",
                "name = \"...\"",
                remedy);
        Facts.told(
                App.failure("", Named.class, Elsewhere.Named.class),
                "RL-126",
                "'Named.vote'",
                HERE + "Named.vote()",
                HERE + "Elsewhere$Named.vote()",
                remedy);
        Facts.told(
                App.failure("", Copied.class),
                "RL-126",
                "'sms'",
                HERE + "Copied.one()",
                HERE + "Copied.other()",
                remedy);
        for (String configured : List.of(
                "limiter.policies.Named.vote.limits = 1/1s",
                "limiter.rules.Named.vote.limits = 1/1s\nlimiter.rules.Named.vote.path = /*")) {
            Facts.told(
                    App.failure(configured, Named.class),
                    "RL-126",
                    "@RateLimited",
                    HERE + "Named.vote()",
                    "'Named.vote'",
                    "the configuration",
                    "name = \"...\"",
                    remedy);
        }
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
        assertTold(
                ANameThatIsLongerThanItsReadersWouldLike.class,
                "aMethodWhoseNameIsLongToo()",
                "RL-127",
                "'ANameThatIsLongerThanItsReadersWouldLike.aMethodWhoseNameIsLongToo'",
                "1 to 64",
                "A-Z a-z 0-9 . _ -",
                "name = \"...\"");
        assertTold(
                Spaced.class,
                "vote()",
                "RL-127",
                "name = \"my votes\"",
                "1 to 64",
                "A-Z a-z 0-9 . _ -",
                "name = \"...\"");
    }
}
