package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.kit.Facts;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** Two contexts with one limiter, such as that of a web application and the one of its controllers. */
class ContextsTest {
    @Test
    void twoMethodsOfOneNameAreFound() {
        try (App parent = App.of("", MessagesTest.Votes.class);
                AnnotationConfigApplicationContext child = child(parent, MessagesTest.Elsewhere.Votes.class)) {
            Facts.told(
                    App.message(child::refresh),
                    "RL-126",
                    "@RateLimited",
                    MessagesTest.Elsewhere.Votes.class.getName() + ".vote()",
                    "'Votes.vote'",
                    MessagesTest.Votes.class.getName() + ".vote()",
                    "name = \"...\"",
                    "limiter.policies.<name>.limits");
        }
    }

    @Test
    void oneMethodInBothSharesItsQuota() {
        try (App parent = App.of("", MessagesTest.Votes.class);
                AnnotationConfigApplicationContext child = child(parent, MessagesTest.Votes.class)) {
            child.refresh();
            assertEquals(3, App.passes(4, App.calling(parent.bean(MessagesTest.Votes.class)::vote)));
            assertEquals(0, App.passes(2, App.calling(child.getBean(MessagesTest.Votes.class)::vote)));
        }
    }

    private static AnnotationConfigApplicationContext child(App parent, Class<?> bean) {
        AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
        child.setParent(parent.context());
        child.register(App.OfClasses.class, bean);
        return child;
    }
}
