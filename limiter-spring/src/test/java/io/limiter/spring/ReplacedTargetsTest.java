package io.limiter.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.target.SingletonTargetSource;

/** A proxy whose target is replaced: each call has the limits of the target that it is for. */
class ReplacedTargetsTest {
    static class Once implements Callable<String> {
        @Override
        @RateLimited(limits = "1/1h", key = "global")
        public String call() {
            return "done";
        }
    }

    static class Twice implements Callable<String> {
        @Override
        @RateLimited(limits = "2/1h", key = "global")
        public String call() {
            return "done";
        }
    }

    static class Free implements Callable<String> {
        @Override
        public String call() {
            return "done";
        }
    }

    @Test
    void ofOtherClasses() {
        try (App app = App.of("", Once.class)) {
            Callable<?> bean = app.bean(Callable.class);
            assertEquals(1, App.passes(5, bean));
            replace(bean, new Twice());
            assertEquals(2, App.passes(5, bean));
            replace(bean, new Free());
            assertEquals(5, App.passes(5, bean));
            replace(bean, new Once());
            assertEquals(0, App.passes(5, bean), "its limit is used up");
        }
    }

    @Test
    void proxiesOfOneClass() {
        try (App app = App.of("", Once.class)) {
            Callable<?> bean = app.bean(Callable.class);
            Object once = proxy(new Once());
            Object twice = proxy(new Twice());
            assertSame(once.getClass(), twice.getClass());
            // Spring chooses the advice of a method once, by the class of the first target.
            assertEquals(1, App.passes(5, bean));
            replace(bean, twice);
            assertEquals(2, App.passes(5, bean));
            replace(bean, once);
            assertEquals(0, App.passes(5, bean), "its limit is used up");
            replace(bean, proxy(new Free()));
            assertEquals(5, App.passes(5, bean));
        }
    }

    private static void replace(Object bean, Object target) {
        ((Advised) bean).setTargetSource(new SingletonTargetSource(target));
    }

    private static Object proxy(Callable<?> target) {
        ProxyFactory factory = new ProxyFactory(target);
        return factory.getProxy();
    }
}
