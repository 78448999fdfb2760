package io.limiter.spring.config;

import io.limiter.DiagnosticLog;
import io.limiter.Limiter;
import io.limiter.spring.CallerSource;
import io.limiter.spring.web.RateLimitExceededAdvice;
import io.limiter.spring.web.RequestCallers;
import io.limiter.spring.webflux.RateLimitExceededWebHandler;
import io.limiter.spring.webflux.ReactiveRateLimitExceededAdvice;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotContribution;
import org.springframework.beans.factory.aot.BeanFactoryInitializationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.ResourceLoaderAware;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.io.ResourceLoader;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;
import org.springframework.web.server.WebHandler;

/** Defines the beans that the application did not define, when all of its definitions are known. */
final class Defaults
        implements BeanDefinitionRegistryPostProcessor,
                BeanFactoryInitializationAotProcessor,
                ResourceLoaderAware,
                EnvironmentAware {
    private static final boolean WEB = isPresent("jakarta.servlet.http.HttpServletRequest")
            && isPresent("org.springframework.web.context.request.RequestContextHolder");

    private static final boolean WEBFLUX =
            isPresent("org.springframework.web.server.WebHandler") && isPresent("reactor.core.publisher.Mono");

    private static final Logger LOG = DiagnosticLog.of(Defaults.class);

    /** The bean of the auto-configuration, which must not be known here by its type. */
    private static final String LIMITER_OF_BOOT = "io.limiter.spring.limiter";

    private final String location;
    private ResourceLoader resources = new DefaultResourceLoader();
    private Environment environment = new StandardEnvironment();

    Defaults(String location) {
        this.location = location;
    }

    @Override
    public void setResourceLoader(ResourceLoader loader) {
        this.resources = loader;
    }

    @Override
    public void setEnvironment(Environment ofContext) {
        this.environment = ofContext;
    }

    @Override
    public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
        if (!(registry instanceof ConfigurableListableBeanFactory factory)) {
            throw new IllegalStateException("a context whose registry is no bean factory ("
                    + registry.getClass().getName() + ") is not supported; use a GenericApplicationContext");
        }
        if (isMissing(Limiter.class, factory)) {
            RootBeanDefinition limiter = define("limiter", LimiterOfFile.class, "start", registry);
            limiter.getConstructorArgumentValues().addIndexedArgumentValue(0, location);
        } else if (registry.containsBeanDefinition(LIMITER_OF_BOOT)) {
            warnOfAFileThatNobodyReads();
        }
        // A program may have WebFlux for its client alone.
        if (WEBFLUX && factory.getBeanNamesForType(WebHandler.class, true, false).length > 0) {
            defineReactive(registry, factory);
        } else if (WEB) {
            defineWeb(registry, factory);
        }
    }

    /** An annotation that was left over is no mistake; limits that are not applied are one. */
    private void warnOfAFileThatNobodyReads() {
        String place = environment.resolvePlaceholders(location);
        if (resources.getResource(place).exists()) {
            LOG.warn(
                    "RL-117 {} is not read, because Spring Boot configures the limiter; write spring.config.import = {}, or"
                            + " move its lines to application.yml, and remove @EnableRateLimiting",
                    place,
                    place);
        }
    }

    private static void defineWeb(BeanDefinitionRegistry registry, ConfigurableListableBeanFactory factory) {
        if (isMissing(CallerSource.class, factory)) {
            define("callerSource", RequestCallers.class, "of", registry);
        }
        if (isMissing(RateLimitExceededAdvice.class, factory) && !RateLimitExceededAdvice.isReplaced(factory)) {
            define("rateLimitExceededAdvice", RateLimitExceededAdvice.class, "of", registry);
        }
    }

    private static void defineReactive(BeanDefinitionRegistry registry, ConfigurableListableBeanFactory factory) {
        if (isMissing(RateLimitExceededWebHandler.class, factory)) {
            define("rateLimitExceededWebHandler", RateLimitExceededWebHandler.class, null, registry);
        }
        if (isMissing(ReactiveRateLimitExceededAdvice.class, factory) && !RateLimitExceededAdvice.isReplaced(factory)) {
            define("reactiveRateLimitExceededAdvice", ReactiveRateLimitExceededAdvice.class, null, registry);
        }
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {}

    /** A native image holds only the files that it is told of; the file of a directory is read where it runs. */
    @Override
    public @Nullable BeanFactoryInitializationAotContribution processAheadOfTime(
            ConfigurableListableBeanFactory beanFactory) {
        String place = environment.resolvePlaceholders(location);
        return place.startsWith(ResourceLoader.CLASSPATH_URL_PREFIX)
                ? (generation, code) -> generation
                        .getRuntimeHints()
                        .resources()
                        .registerPattern(
                                StringUtils.cleanPath(place.substring(ResourceLoader.CLASSPATH_URL_PREFIX.length()))
                                        .replaceFirst("^/", ""))
                : null;
    }

    /**
     * A bean that a constructor or a method makes of other beans. By a name and no lambda, so that an application can be built ahead
     * of time.
     *
     * @param method a static one of the maker; null for its constructor
     */
    private static RootBeanDefinition define(
            String name, Class<?> maker, @Nullable String method, BeanDefinitionRegistry registry) {
        RootBeanDefinition definition = RateLimitingRegistrar.infrastructure(maker);
        definition.setFactoryMethodName(method);
        definition.setAutowireMode(AbstractBeanDefinition.AUTOWIRE_CONSTRUCTOR);
        // The name may be that of another bean of the application, which must not be lost.
        registry.registerBeanDefinition(
                registry.containsBeanDefinition(name) ? "io.limiter.spring." + name : name, definition);
        return definition;
    }

    private static boolean isMissing(Class<?> type, ConfigurableListableBeanFactory factory) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(factory, type, true, false).length == 0;
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, Defaults.class.getClassLoader());
    }
}
