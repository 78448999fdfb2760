package io.limiter.spring.config;

import io.limiter.spring.internal.RateLimitedPostProcessor;
import io.limiter.spring.internal.web.WebBeans;
import java.util.Map;
import java.util.Objects;
import org.springframework.beans.factory.config.BeanDefinition;
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
    private static final String OWNER = "io.limiter.spring.owner";
    private static final String ATTRIBUTES = "io.limiter.spring.attributes";

    @Override
    public void registerBeanDefinitions(AnnotationMetadata metadata, BeanDefinitionRegistry registry) {
        Map<String, Object> attributes =
                Objects.requireNonNull(metadata.getAnnotationAttributes(EnableRateLimiting.class.getName()));
        if (registry.containsBeanDefinition(POST_PROCESSOR)) {
            checkSame(metadata.getClassName(), attributes, registry.getBeanDefinition(POST_PROCESSOR));
            return;
        }
        RootBeanDefinition processor = WebBeans.define(POST_PROCESSOR, RateLimitedPostProcessor.class, null, registry);
        processor.getPropertyValues().add("proxyTargetClass", attributes.get("proxyTargetClass"));
        processor.setAttribute(OWNER, metadata.getClassName());
        processor.setAttribute(ATTRIBUTES, attributes);

        WebBeans.define("io.limiter.spring.lastPass", BeanPostProcessor.class, "lastPass", registry)
                .setFactoryBeanName(POST_PROCESSOR);
        WebBeans.define("io.limiter.spring.defaults", Defaults.class, null, registry)
                .getConstructorArgumentValues()
                .addIndexedArgumentValue(0, attributes.get("value"));
        WebBeans.define("io.limiter.spring.webBeans", WebBeans.class, null, registry);
    }

    /** A context has one limiter, so a second annotation must not configure another one. */
    private static void checkSame(String type, Map<String, Object> attributes, BeanDefinition first) {
        Object known = first.getAttribute(ATTRIBUTES);
        if (known != null && !known.equals(attributes)) {
            throw new IllegalStateException("RL-136 " + type + " has @EnableRateLimiting" + attributes + ", and "
                    + first.getAttribute(OWNER) + " has " + known
                    + "; a context has one limiter, so keep one of the two");
        }
    }
}
