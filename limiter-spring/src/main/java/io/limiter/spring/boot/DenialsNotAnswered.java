package io.limiter.spring.boot;

import io.limiter.spring.web.RateLimitExceededAdvice;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Unless a {@code @ControllerAdvice} of the application answers denied calls. */
final class DenialsNotAnswered implements ConfigurationCondition {
    @Override
    public ConfigurationPhase getConfigurationPhase() {
        return ConfigurationPhase.REGISTER_BEAN;
    }

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        ConfigurableListableBeanFactory factory = context.getBeanFactory();
        return factory != null && !RateLimitExceededAdvice.isReplaced(factory);
    }
}
