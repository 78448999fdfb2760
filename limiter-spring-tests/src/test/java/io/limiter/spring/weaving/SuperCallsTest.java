package io.limiter.spring.weaving;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.limiter.PartitionKey;
import io.limiter.application.Limiter;
import io.limiter.kit.Looks;
import io.limiter.spring.App;
import io.limiter.spring.RateLimited;
import io.limiter.spring.aop.RateLimiting;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A woven method that calls itself, or the one that it overrides, woven as well, is two calls; a proxy adds none. */
@Tag("woven")
class SuperCallsTest {
    private static final String NINE = "limiter.policies.nine.limits = 9/1h\n";

    static class Base {
        @RateLimited(value = "nine", key = "global")
        public String call(int more) {
            return "base";
        }
    }

    static class Annotated extends Base {
        @Override
        @RateLimited(value = "nine", key = "global")
        public String call(int more) {
            return more == 0 ? super.call(0) : call(more - 1);
        }
    }

    static class Bare extends Base {
        @Override
        public String call(int more) {
            return super.call(more);
        }
    }

    @RateLimited(value = "nine", key = "global")
    static class Whole {
        public String call() {
            return "whole";
        }
    }

    static class Part extends Whole {
        @Override
        public String call() {
            return super.call();
        }
    }

    @Test
    void ofAnAnnotatedClassToo() {
        assertEquals(7, leftAfter(nothing -> new Part().call()));
        assertEquals(7, leftInSpring(Part.class, Part::call));
    }

    @Test
    void withoutSpring() {
        assertEquals(8, leftAfter(nothing -> new Base().call(0)));
        assertEquals(7, leftAfter(nothing -> new Annotated().call(0)));
        assertEquals(5, leftAfter(nothing -> new Annotated().call(2)), "it calls itself twice");
        assertEquals(8, leftAfter(nothing -> new Bare().call(0)));
    }

    @Test
    void throughAProxyToo() {
        assertEquals(8, leftInSpring(Base.class, bean -> bean.call(0)));
        assertEquals(7, leftInSpring(Annotated.class, bean -> bean.call(0)));
        assertEquals(5, leftInSpring(Annotated.class, bean -> bean.call(2)));
        assertEquals(8, leftInSpring(Bare.class, bean -> bean.call(0)));
    }

    private static <T> long leftInSpring(Class<T> type, Consumer<T> call) {
        try (App app = App.ofClasses(NINE, type)) {
            call.accept(app.bean(type));
            return app.left("nine", PartitionKey.global());
        }
    }

    private static long leftAfter(Consumer<Object> call) {
        try (Limiter limiter = Limiter.start(App.config(NINE));
                RateLimiting used = RateLimiting.use(limiter)) {
            assertNotNull(used);
            call.accept("nothing");
            return Looks.left(limiter.rateLimiter(), limiter.policy("nine"), PartitionKey.global());
        }
    }
}
