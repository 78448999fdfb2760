package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Decision;
import io.limiter.kit.Facts;
import org.junit.jupiter.api.Test;

/** A class annotation and the fallback that it names. */
class ClassAnnotationsTest {
    private static final String ONE = "limiter.policies.one.limits = 1/1h\n";

    @RateLimited(value = "one", key = "global", fallback = "later")
    static class Greetings {
        public String greet(String name) {
            return "hello " + name;
        }

        public String later(String name) {
            return "later " + name;
        }

        public String later(int number) {
            return "a method of its own: " + number;
        }
    }

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

    @Test
    void anotherMethodOfThatNameNeedsAFallbackToo() {
        Facts.told(
                App.failure(ONE, Greetings.class),
                "RL-125",
                "@RateLimited",
                Greetings.class.getName() + ".later(int)",
                "fallback = \"later\"",
                "String later(String)",
                "String later(int)",
                "Decision");
    }
}
