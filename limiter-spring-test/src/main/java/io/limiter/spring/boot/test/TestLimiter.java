package io.limiter.spring.boot.test;

import io.limiter.Backend;
import io.limiter.ManualTime;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.backend.ForwardingBackend;
import io.limiter.internal.config.Settings.Storage;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;
import org.springframework.core.Ordered;
import org.springframework.core.PriorityOrdered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/**
 * Replaces each limiter that the context makes by one in this JVM. Its backend can be reset, so that the next test can
 * use the same limiter. Thread-safe.
 */
final class TestLimiter implements BeanFactoryPostProcessor, BeanPostProcessor, PriorityOrdered, DisposableBean {
    private static final Logger LOG = LoggerFactory.getLogger(TestLimiter.class);

    private final ObjectProvider<ManualTime> times;
    private final ListableBeanFactory beans;
    private final List<Replaced> all = new CopyOnWriteArrayList<>();
    private volatile long start;

    /** A limiter that replaces another one, and its backend. */
    private record Replaced(Limiter limiter, Renewed backend) {}

    /**
     * A backend that another one can replace. It has no decider of its own for a policy: the rate limiter keeps deciders, and one of the
     * backend before the reset would go on deciding by its state.
     */
    private static final class Renewed extends ForwardingBackend {
        private volatile Backend now;

        Renewed(Backend now) {
            this.now = now;
        }

        @Override
        protected Backend inner() {
            return now;
        }
    }

    /**
     * The time is looked up when there is a limiter: dependencies of a post processor would be created before all other
     * beans.
     */
    TestLimiter(ObjectProvider<ManualTime> times, ListableBeanFactory beans) {
        this.times = times;
        this.beans = beans;
    }

    @Override
    public int getOrder() {
        return Ordered.HIGHEST_PRECEDENCE;
    }

    /**
     * Gives the limiter that is replaced a rate limiter, so that it makes no connection to Redis. It is not a bean, because a bean would
     * look like a rate limiter of the application.
     */
    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory factory) {
        if (!hasRateLimiter()) {
            factory.registerResolvableDependency(RateLimiter.class, RateLimiters.unlimited());
        }
    }

    private boolean hasRateLimiter() {
        return beans.getBeanNamesForType(RateLimiter.class, true, false).length > 0;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!(bean instanceof Limiter limiter)) {
            return bean;
        }
        // The context owns the application's own rate limiter.
        if (!hasRateLimiter()) {
            limiter.close();
        }
        LOG.info("the limits are those of @AutoConfigureTestLimiter");
        if (all.isEmpty()) {
            start = times.getObject().nowMicros();
        }
        Renewed backend = new Renewed(fresh(limiter));
        Limiter replaced = Limiter.of(limiter.config(), RateLimiters.on(backend));
        all.add(new Replaced(replaced, backend));
        return replaced;
    }

    /** Resets all quotas and the time. */
    void beginAnew() {
        if (!all.isEmpty()) {
            times.getObject().setMicros(start);
        }
        all.forEach(one -> one.backend().now = fresh(one.limiter()));
    }

    /** The context closes only what was replaced. */
    @Override
    public void destroy() {
        all.forEach(one -> one.limiter().close());
    }

    private Backend fresh(Limiter limiter) {
        Storage bounds = limiter.config().settings().storage();
        Backend backend = InProcessBackend.builder()
                .timeSource(times.getObject())
                .maxEntries(bounds.maxEntries())
                .maxStamps(bounds.maxTimestamps())
                .build();
        limiter.policies().values().forEach(backend::announce);
        return backend;
    }

    /** The beans that {@link AutoConfigureTestLimiter} adds to the context of a test. */
    @Configuration(proxyBeanMethods = false)
    static class Beans {
        /** A test's own bean takes precedence. */
        @Bean("io.limiter.spring.boot.test.time")
        @Fallback
        ManualTime time() {
            return new ManualTime();
        }

        @Bean("io.limiter.spring.boot.test.limiter")
        static TestLimiter limiter(ObjectProvider<ManualTime> times, ListableBeanFactory beans) {
            return new TestLimiter(times, beans);
        }
    }

    /** Resets the limiter before each method of a test that has {@link AutoConfigureTestLimiter}. */
    static final class Listener extends AbstractTestExecutionListener {
        @Override
        public void beforeTestMethod(TestContext test) {
            if (TestContextAnnotationUtils.hasAnnotation(test.getTestClass(), AutoConfigureTestLimiter.class)) {
                test.getApplicationContext().getBean(TestLimiter.class).beginAnew();
            }
        }
    }
}
