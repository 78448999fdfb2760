package io.limiter.spring.config;

import io.limiter.spring.aop.RateLimitedPostProcessor;
import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.type.AnnotationMetadata;

/** Defines what {@link EnableRateLimiting} says. What an application may define itself comes later: {@link Defaults}. */
final class RateLimitingRegistrar implements ImportBeanDefinitionRegistrar {
    static final String POST_PROCESSOR = "io.limiter.spring.rateLimitedPostProcessor";
    static final String DEFAULTS = "io.limiter.spring.defaults";

    RateLimitingRegistrar() {}

    @Override
    public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
        Map<String, Object> attributes =
                Objects.requireNonNull(metadata.getAnnotationAttributes(EnableRateLimiting.class.getName()));
        if (!registry.containsBeanDefinition(POST_PROCESSOR)) {
            RootBeanDefinition processor = infrastructure(RateLimitedPostProcessor.class);
            processor.getPropertyValues().add("proxyTargetClass", attributes.get("proxyTargetClass"));
            registry.registerBeanDefinition(POST_PROCESSOR, processor);
        }
        if (!registry.containsBeanDefinition(DEFAULTS)) {
            RootBeanDefinition defaults = infrastructure(Defaults.class);
            defaults.getConstructorArgumentValues().addGenericArgumentValue(attributes.get("value"));
            registry.registerBeanDefinition(DEFAULTS, defaults);
        }
    }

    static RootBeanDefinition infrastructure(Class<?> type) {
        RootBeanDefinition definition = new RootBeanDefinition(type);
        definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
        return definition;
    }
}
