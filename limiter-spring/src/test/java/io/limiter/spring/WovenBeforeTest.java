package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.spring.aop.RateLimiting;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import org.junit.jupiter.api.Test;

/**
 * A class that was compiled and woven before the Java API was settled: {@code compiled-before} in the test resources,
 * with its source, which is not compiled here. It must be limited without being woven again.
 */
class WovenBeforeTest {
    @Test
    void isLimitedAsItIs() throws Exception {
        URL folder = WovenBeforeTest.class.getResource("/compiled-before/");
        try (URLClassLoader loader = new URLClassLoader(new URL[] {folder}, WovenBeforeTest.class.getClassLoader());
                Limiter limiter = Limiter.start(LimiterConfig.builder().build());
                RateLimiting used = RateLimiting.use(limiter)) {
            Class<?> woven = loader.loadClass("earlier.Woven");
            Method twice = woven.getMethod("twice", String.class);
            assertEquals("hello annhello ann", twice.invoke(null, "ann"));
            InvocationTargetException denied =
                    assertThrows(InvocationTargetException.class, () -> twice.invoke(null, "ann"));
            assertInstanceOf(RateLimitExceededException.class, denied.getCause());
            assertEquals("hello bobhello bob", twice.invoke(null, "bob"));
            RateLimiting.requireWoven(woven);
        }
    }
}
