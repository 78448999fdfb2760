package io.limiter.spring.weaving;

import static io.limiter.spring.App.passes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.spring.App;
import io.limiter.spring.aop.RateLimiting;
import io.limiter.spring.weaving.Construct.Cell;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every cell of the table of constructs and weavings. Runs once for each way of weaving. */
class WeavingTableTest {
    private static final int CALLS = 5;

    @Test
    void theClassesAreWovenAsTheBuildSays() {
        boolean woven = Arrays.stream(Constructs.Visible.class.getDeclaredFields())
                .anyMatch(field -> field.getName().startsWith("ajc$"));
        assertEquals(Weaving.now() != Weaving.NONE, woven);
    }

    /** Only where nothing is woven; else {@link #wovenAndProxiedCountsOnce} is what there is to see. */
    @Tag("proxied")
    @ParameterizedTest
    @EnumSource(Construct.class)
    void proxied(Construct construct) {
        if (construct.proxied == Cell.REFUSED) {
            String message = App.failure("", construct.type);
            assertTrue(message.startsWith("RL-130 "), message);
            return;
        }
        try (App app = App.of("", construct.type)) {
            assertPasses(construct.proxied, construct, app.bean(construct.calledBy));
        }
        try (App app = App.ofClasses("", construct.type)) {
            assertPasses(construct.proxied, construct, app.bean(construct.type));
        }
    }

    @Tag("woven")
    @ParameterizedTest
    @EnumSource(Construct.class)
    void woven(Construct construct) throws Exception {
        try (RateLimiter rateLimiter = RateLimiters.on(InProcessBackend.create());
                RateLimiting used = RateLimiting.use(Limiter.of(App.config(""), rateLimiter))) {
            Constructor<?> constructor = construct.type.getDeclaredConstructor();
            constructor.setAccessible(true);
            assertPasses(construct.woven, construct, constructor.newInstance());
        }
    }

    @Tag("woven")
    @ParameterizedTest
    @EnumSource(Construct.class)
    void wovenAndProxiedCountsOnce(Construct construct) {
        Cell either = construct.proxied == Cell.YES ? Cell.YES : construct.woven;
        try (App app = App.ofClasses("", construct.type)) {
            assertPasses(either, construct, app.bean(construct.type));
        }
        try (App app = App.of("", construct.type)) {
            assertPasses(either, construct, app.bean(construct.calledBy));
        }
    }

    private static void assertPasses(Cell cell, Construct construct, Object object) {
        int expected = cell == Cell.YES ? Constructs.LIMIT : CALLS;
        assertEquals(expected, passes(CALLS, () -> construct.callOn(object)), construct.text);
    }
}
