package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.kit.Facts;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** Two contexts with one limiter, such as that of a web application and the one of its controllers. */
class ContextsTest {
    static class First {
        static class Votes {
            @RateLimited(limits = "1/1h", key = "global")
            public void vote() {}
        }
    }

    static class Second {
        static class Votes {
            @RateLimited(limits = "5/1h", key = "global")
            public void vote() {}
        }
    }

    @Test
    void twoMethodsOfOneNameAreFound() {
        try (App parent = App.of("", First.Votes.class);
                AnnotationConfigApplicationContext child = child(parent, Second.Votes.class)) {
            Facts.told(
                    App.message(child::refresh),
                    "RL-126",
                    "@RateLimited",
                    Second.Votes.class.getName() + ".vote()",
                    "'Votes.vote'",
                    First.Votes.class.getName() + ".vote()",
                    "name = \"...\"",
                    "limiter.policies.<name>.limits");
        }
    }

    @Test
    void oneMethodInBothSharesItsQuota() {
        try (App parent = App.of("", First.Votes.class);
                AnnotationConfigApplicationContext child = child(parent, First.Votes.class)) {
            child.refresh();
            assertEquals(1, App.passes(2, App.calling(parent.bean(First.Votes.class)::vote)));
            assertEquals(0, App.passes(2, App.calling(child.getBean(First.Votes.class)::vote)));
        }
    }

    private static AnnotationConfigApplicationContext child(App parent, Class<?> bean) {
        AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
        child.setParent(parent.context());
        child.register(App.OfClasses.class, bean);
        return child;
    }
}
