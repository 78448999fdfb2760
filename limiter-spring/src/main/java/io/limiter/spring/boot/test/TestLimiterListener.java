package io.limiter.spring.boot.test;

import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.support.AbstractTestExecutionListener;

/** Resets the limiter before each method of a test that has {@link AutoConfigureTestLimiter}. */
final class TestLimiterListener extends AbstractTestExecutionListener {
    @Override
    public void beforeTestMethod(TestContext test) {
        if (TestContextAnnotationUtils.hasAnnotation(test.getTestClass(), AutoConfigureTestLimiter.class)) {
            test.getApplicationContext().getBean(TestLimiter.class).beginAnew();
        }
    }
}
