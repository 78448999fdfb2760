package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.application.Limiter;
import io.limiter.kit.LogLines;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;

/** A configured policy that no rule and no annotation of a bean uses is reported, without Spring Boot too. */
class UnusedPoliciesTest {
    private static final String POLICIES = """
            limiter.policies.eager.limits = 1/1h
            limiter.policies.lazy.limits = 1/1h
            limiter.policies.scoped.limits = 1/1h
            limiter.policies.ruled.limits = 1/1h
            limiter.policies.unused.limits = 1/1h
            limiter.policies.misspelled.limits = 1/1h
            limiter.rules.all.path = /*
            limiter.rules.all.policy = ruled
            """;

    static class Eager {
        @RateLimited(value = "eager", key = "global")
        public void call() {}
    }

    @Lazy
    static class OfLater {
        @RateLimited(value = "lazy", key = "global")
        public void call() {}
    }

    @Scope("prototype")
    static class OfAScope {
        @RateLimited(value = "scoped", key = "global")
        public void call() {}
    }

    private static List<String> lines(Runnable start) {
        try (LogLines log = new LogLines()) {
            start.run();
            return log.of(Level.WARN, "RL-140");
        }
    }

    @Test
    void thoseThatNothingUsesAreInOneLine() {
        List<String> lines = lines(() ->
                App.of(POLICIES, Eager.class, OfLater.class, OfAScope.class).close());
        assertEquals(1, lines.size(), lines::toString);
        assertTrue(lines.get(0).contains("[misspelled, unused]"), lines::toString);
    }

    @Test
    void aContextThatUsesTheLimiterOfItsParentSaysNothing() {
        try (AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext();
                AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext()) {
            parent.registerBean(Limiter.class, () -> Limiter.start(App.config(POLICIES)));
            parent.refresh();
            child.setParent(parent);
            child.register(App.OfClasses.class, Eager.class);
            assertEquals(List.of(), lines(child::refresh));
            try (LogLines log = new LogLines("io.limiter", Level.INFO)) {
                child.close();
                parent.close();
                String line = log.only(Level.INFO, "RL-140");
                assertTrue(line.contains("[lazy, misspelled, scoped, unused]"), "eager has its annotation");
            }
        }
    }
}
