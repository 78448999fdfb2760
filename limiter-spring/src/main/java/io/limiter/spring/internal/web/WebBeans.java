package io.limiter.spring.internal.web;

import io.limiter.spring.CallerSource;
import io.limiter.spring.web.RateLimitExceededAdvice;
import io.limiter.spring.webflux.RateLimitExceededWebHandler;
import io.limiter.spring.webflux.ReactiveRateLimitExceededAdvice;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.util.ClassUtils;
import org.springframework.web.server.WebHandler;

/**
 * Defines the beans that a web application needs besides a limiter, unless it has its own: the source of callers of
 * limited methods, and the 429 response of denied ones. Runs when all definitions of the application are known. With or
 * without Spring Boot.
 */
public final class WebBeans implements BeanDefinitionRegistryPostProcessor {
    private static final boolean WEB = isPresent("jakarta.servlet.http.HttpServletRequest")
            && isPresent("org.springframework.web.context.request.RequestContextHolder");
    private static final boolean WEBFLUX =
            isPresent("org.springframework.web.server.WebHandler") && isPresent("reactor.core.publisher.Mono");

    private boolean isReactive;

    /** Detects whether the application uses WebFlux. */
    public WebBeans() {}

    /** For an application that is known to use WebFlux. */
    public static WebBeans ofReactive() {
        WebBeans beans = new WebBeans();
        beans.isReactive = true;
        return beans;
    }

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        ListableBeanFactory factory = (ListableBeanFactory) registry;
        // A program may have WebFlux only for its client.
        if (isReactive || (WEBFLUX && factory.getBeanNamesForType(WebHandler.class, true, false).length > 0)) {
            if (isMissing(RateLimitExceededWebHandler.class, factory)) {
                define("rateLimitExceededWebHandler", RateLimitExceededWebHandler.class, null, registry);
            }
            if (isMissing(ReactiveRateLimitExceededAdvice.class, factory)
                    && !RateLimitExceededAdvice.isReplaced(factory)) {
                define("reactiveRateLimitExceededAdvice", ReactiveRateLimitExceededAdvice.class, null, registry);
            }
        } else if (WEB) {
            if (isMissing(CallerSource.class, factory)) {
                define("callerSource", RequestCallers.class, null, registry);
            }
            if (isMissing(RateLimitExceededAdvice.class, factory) && !RateLimitExceededAdvice.isReplaced(factory)) {
                define("rateLimitExceededAdvice", RateLimitExceededAdvice.class, "of", registry);
            }
        }
    }

    /**
     * A bean that a constructor or a method makes from other beans. Referred to by name rather than lambda, so that an
     * application can be built ahead of time.
     *
     * @param method a static one of the maker; null for its constructor
     */
    public static RootBeanDefinition define(
            String name, Class<?> maker, @Nullable String method, BeanDefinitionRegistry registry) {
        RootBeanDefinition definition = new RootBeanDefinition(maker);
        definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE);
        definition.setFactoryMethodName(method);
        definition.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
        // The name may be that of another bean of the application, which must not be lost.
        registry.registerBeanDefinition(
                registry.containsBeanDefinition(name) ? "io.limiter.spring." + name : name, definition);
        return definition;
    }

    /** Whether neither the context nor its parents define a bean of this type. */
    public static boolean isMissing(Class<?> type, ListableBeanFactory factory) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(factory, type, true, false).length == 0;
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, WebBeans.class.getClassLoader());
    }
}
