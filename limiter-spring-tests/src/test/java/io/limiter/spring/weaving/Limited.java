package io.limiter.spring.weaving;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.spring.App;
import io.limiter.spring.aop.RateLimiting;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** A limited object: a proxied bean where nothing is woven, else an object of the woven class. */
final class Limited<T> implements AutoCloseable {
    private final T object;
    private final AutoCloseable end;

    private Limited(T object, AutoCloseable end) {
        this.object = object;
        this.end = end;
    }

    /** With policies of a configuration, on a rate limiter that it closes. */
    static <T> Limited<T> of(Class<T> type, String config, RateLimiter rateLimiter) {
        if (Weaving.now() == Weaving.NONE) {
            App app = App.on(rateLimiter, config, type);
            return new Limited<>(app.bean(type), app);
        }
        Limiter limiter = Limiter.of(App.config(config), rateLimiter);
        Limited<T> woven = of(type, limiter);
        return new Limited<>(woven.object, () -> {
            woven.close();
            limiter.close();
        });
    }

    /** On a limiter of the test's own, which stays open. */
    static <T> Limited<T> of(Class<T> type, Limiter limiter) {
        if (Weaving.now() == Weaving.NONE) {
            AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
            context.getBeanFactory().registerSingleton("limiter", limiter);
            context.register(App.OfClasses.class, type);
            context.refresh();
            return new Limited<>(context.getBean(type), context);
        }
        RateLimiting used = RateLimiting.use(limiter);
        try {
            return new Limited<>(type.getDeclaredConstructor().newInstance(), used);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    T object() {
        return object;
    }

    @Override
    public void close() throws Exception {
        end.close();
    }
}
