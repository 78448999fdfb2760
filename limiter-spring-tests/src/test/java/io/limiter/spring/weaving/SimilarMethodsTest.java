package io.limiter.spring.weaving;

import static io.limiter.spring.App.passes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.limiter.application.Limiter;
import io.limiter.spring.App;
import io.limiter.spring.RateLimited;
import io.limiter.spring.aop.RateLimiting;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is made of annotations is kept, and found again by method and class. Here each two methods have all in common but one
 * thing, and different limits, so that a cache that leaves this thing out gives one of them the limits of the other.
 */
class SimilarMethodsTest {
    private static final int CALLS = 5;

    interface Service {
        String call();
    }

    static class One implements Service {
        @Override
        @RateLimited(limits = "1/1h", key = "global")
        public String call() {
            return "one";
        }
    }

    static class Two implements Service {
        @Override
        @RateLimited(limits = "2/1h", key = "global")
        public String call() {
            return "two";
        }
    }

    static class Free implements Service {
        @Override
        public String call() {
            return "free";
        }
    }

    interface Overloads {
        String call();

        String call(String text);

        String call(int number);

        String other(String text);
    }

    static class Overloaded implements Overloads {
        @Override
        public String call() {
            return "free";
        }

        @Override
        @RateLimited(limits = "1/1h", key = "global", name = "of-text")
        public String call(String text) {
            return text;
        }

        @Override
        @RateLimited(limits = "2/1h", key = "global", name = "of-number")
        public String call(int number) {
            return "number";
        }

        @Override
        @RateLimited(limits = "3/1h", key = "global")
        public String other(String text) {
            return text;
        }
    }

    static class Namesake {
        static class One implements Service {
            @Override
            @RateLimited(limits = "4/1h", key = "global", name = "namesake")
            public String call() {
                return "four";
            }
        }
    }

    /** One method, whose denied calls each class answers in its own way. */
    abstract static class Answering implements Service {
        @Override
        @RateLimited(limits = "0/1h", key = "global", fallback = "instead", name = "answering")
        public String call() {
            return "never";
        }

        String instead() {
            return "of all";
        }
    }

    static class AnsweringA extends Answering {
        @Override
        String instead() {
            return "A";
        }
    }

    static class AnsweringB extends Answering {
        @Override
        String instead() {
            return "B";
        }
    }

    private static final Map<String, Integer> EXPECTED = new TreeMap<>(Map.of(
            "One.call()", 1,
            "Two.call()", 2,
            "Free.call()", CALLS,
            "Namesake.One.call()", 4,
            "Overloaded.call()", CALLS,
            "Overloaded.call(String)", 1,
            "Overloaded.call(int)", 2,
            "Overloaded.other(String)", 3));

    @Tag("proxied")
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void throughProxies(boolean ofClasses) {
        try (App app = ofClasses ? App.ofClasses("") : App.of("")) {
            assertTellsApart(app);
        }
    }

    /** By name, since the proxies of interfaces are not of these classes. */
    private static void assertTellsApart(App app) {
        assertEquals(
                EXPECTED,
                // The one without limits first: whether a class has any is kept too.
                passing(
                        bean(app, Free.class, Service.class),
                        bean(app, One.class, Service.class),
                        bean(app, Two.class, Service.class),
                        bean(app, Namesake.One.class, Service.class),
                        bean(app, Overloaded.class, Overloads.class)));
        assertEquals("A", bean(app, AnsweringA.class, Service.class).call());
        assertEquals("B", bean(app, AnsweringB.class, Service.class).call());
    }

    private static <T> T bean(App app, Class<?> type, Class<T> calledAs) {
        app.context().registerBean(type.getName(), type);
        return app.context().getBean(type.getName(), calledAs);
    }

    @Tag("woven")
    @Test
    void woven() {
        try (Limiter limiter = Limiter.start(App.config(""));
                RateLimiting used = RateLimiting.use(limiter)) {
            assertNotNull(used);
            assertEquals(EXPECTED, passing(new Free(), new One(), new Two(), new Namesake.One(), new Overloaded()));
            assertEquals("A", new AnsweringA().call());
            assertEquals("B", new AnsweringB().call());
        }
    }

    private static Map<String, Integer> passing(
            Service free, Service one, Service two, Service namesake, Overloads overloaded) {
        return new TreeMap<>(Map.of(
                "One.call()", passes(CALLS, one::call),
                "Two.call()", passes(CALLS, two::call),
                "Free.call()", passes(CALLS, free::call),
                "Namesake.One.call()", passes(CALLS, namesake::call),
                "Overloaded.call()", passes(CALLS, () -> overloaded.call()),
                "Overloaded.call(String)", passes(CALLS, () -> overloaded.call("text")),
                "Overloaded.call(int)", passes(CALLS, () -> overloaded.call(1)),
                "Overloaded.other(String)", passes(CALLS, () -> overloaded.other("text"))));
    }
}
