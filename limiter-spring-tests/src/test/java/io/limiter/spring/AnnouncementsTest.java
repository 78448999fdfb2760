package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.lang.reflect.Proxy;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A start announces each policy of an annotation on its own, so its work grows with the number of annotations and not faster. */
class AnnouncementsTest {
    static class Two {
        @RateLimited(limits = "1/1h", key = "global")
        public void a() {}

        @RateLimited(limits = "1/1h", key = "global")
        public void b() {}
    }

    static class Eight {
        @RateLimited(limits = "1/1h", key = "global")
        public void a() {}

        @RateLimited(limits = "1/1h", key = "global")
        public void b() {}

        @RateLimited(limits = "1/1h", key = "global")
        public void c() {}

        @RateLimited(limits = "1/1h", key = "global")
        public void d() {}

        @RateLimited(limits = "1/1h", key = "global")
        public void e() {}

        @RateLimited(limits = "1/1h", key = "global")
        public void f() {}

        @RateLimited(limits = "1/1h", key = "global")
        public void g() {}

        @RateLimited(limits = "1/1h", key = "global")
        public void h() {}
    }

    @Test
    void fourTimesTheAnnotationsAreFourTimesTheAnnouncements() {
        int others = announcements(Object.class);
        int ofTwo = announcements(Two.class) - others;
        assertTrue(ofTwo >= 2, ofTwo + " announcements");
        assertEquals(4 * ofTwo, announcements(Eight.class) - others);
    }

    private static int announcements(Class<?> bean) {
        AtomicInteger announced = new AtomicInteger();
        Backend inner = InProcessBackend.create();
        Backend counting = (Backend) Proxy.newProxyInstance(
                Backend.class.getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    announced.addAndGet(method.getName().equals("announce") ? 1 : 0);
                    return method.invoke(inner, arguments);
                });
        try (App app = App.on(RateLimiters.on(counting), "", bean)) {
            assertTrue(app.context().isActive());
            return announced.get();
        }
    }
}
