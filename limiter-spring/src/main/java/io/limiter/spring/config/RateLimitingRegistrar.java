package io.limiter.spring.config;

import io.limiter.spring.internal.RateLimitedPostProcessor;
import io.limiter.spring.internal.web.WebBeans;
import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Registers the beans of {@link EnableRateLimiting}. Those that an application may define itself come later: {@link
 * Defaults}.
 */
final class RateLimitingRegistrar implements ImportBeanDefinitionRegistrar {
    private static final String POST_PROCESSOR = "io.limiter.spring.rateLimitedPostProcessor";

    @Override
    public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
        Map<String, Object> attributes =
                Objects.requireNonNull(metadata.getAnnotationAttributes(EnableRateLimiting.class.getName()));
        if (registry.containsBeanDefinition(POST_PROCESSOR)) {
            // A context has one limiter: that of the first annotation.
            return;
        }
        RootBeanDefinition processor = WebBeans.define(POST_PROCESSOR, RateLimitedPostProcessor.class, null, registry);
        processor.getPropertyValues().add("proxyTargetClass", attributes.get("proxyTargetClass"));

        WebBeans.define("io.limiter.spring.lastPass", BeanPostProcessor.class, "lastPass", registry)
                .setFactoryBeanName(POST_PROCESSOR);
        WebBeans.define("io.limiter.spring.defaults", Defaults.class, null, registry)
                .getConstructorArgumentValues()
                .addIndexedArgumentValue(0, attributes.get("value"));
        WebBeans.define("io.limiter.spring.webBeans", WebBeans.class, null, registry);
    }
}
