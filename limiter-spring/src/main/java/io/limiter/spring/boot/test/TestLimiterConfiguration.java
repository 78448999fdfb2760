package io.limiter.spring.boot.test;

import io.limiter.ManualTime;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Fallback;

/** The beans that {@link AutoConfigureTestLimiter} adds to the context of a test. */
@Configuration(proxyBeanMethods = false)
class TestLimiterConfiguration {
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
