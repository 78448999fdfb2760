package io.limiter.spring.boot.test;

import io.limiter.ManualTime;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/** Brings {@link TestLimiter} into the contexts of tests that have {@link AutoConfigureTestLimiter}. */
final class TestLimiterCustomizerFactory implements ContextCustomizerFactory {
    @Override
    public @Nullable ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> attributes) {
        return TestContextAnnotationUtils.hasAnnotation(testClass, AutoConfigureTestLimiter.class)
                ? new Customizer()
                : null;
    }

    /** All are equal, so that tests share contexts. */
    private record Customizer() implements ContextCustomizer {
        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration configuration) {
            // Else it would connect to Redis first, and then be replaced.
            context.getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource(
                            "@AutoConfigureTestLimiter",
                            Map.of("limiter.backend", "in-process", "limiter.enabled", "true")));
            ConfigurableListableBeanFactory beans = context.getBeanFactory();
            if (beans instanceof BeanDefinitionRegistry registry) {
                RootBeanDefinition time = new RootBeanDefinition(ManualTime.class);
                // A test's own goes first.
                time.setFallback(true);
                registry.registerBeanDefinition("io.limiter.spring.boot.test.time", time);
                RootBeanDefinition limiter = new RootBeanDefinition(TestLimiter.class);
                limiter.setAutowireMode(RootBeanDefinition.AUTOWIRE_CONSTRUCTOR);
                registry.registerBeanDefinition("io.limiter.spring.boot.test.limiter", limiter);
            }
        }
    }
}
