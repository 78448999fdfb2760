package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Decision;
import org.junit.jupiter.api.Test;

/** A class annotation and the fallback that it names. */
class ClassAnnotationsTest {
    private static final String ONE = "limiter.policies.one.limits = 1/1h\n";

    @RateLimited(value = "one", key = "global", fallback = "greet")
    static class Overloaded {
        public String greet(String name) {
            return "hello " + name;
        }

        public String greet(String name, Decision decision) {
            return "later " + name;
        }
    }

    @Test
    void itsFallbackIsNotLimitedByIt() {
        try (App app = App.of(ONE, Overloaded.class)) {
            Overloaded overloaded = app.bean(Overloaded.class);
            assertEquals("hello bob", overloaded.greet("bob"));
            assertEquals("later bob", overloaded.greet("bob"));
            assertEquals("later ann", overloaded.greet("ann", null));
        }
    }
}
