package io.limiter.spring.config;

import io.limiter.config.LimiterConfig;
import io.limiter.servlet.RejectionHandler;
import io.limiter.servlet.Rejections;
import io.limiter.spring.aop.CallerSource;
import io.limiter.spring.web.RateLimitExceededAdvice;
import io.limiter.spring.web.RequestCallers;
import io.limiter.wiring.Limiter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.EnvironmentAware;
import org.springframework.context.ResourceLoaderAware;
import org.springframework.core.env.Environment;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.core.io.Resource;
import org.springframework.core.io.ResourceLoader;
import org.springframework.util.ClassUtils;

/** Defines the beans that the application did not define, when all of its definitions are known. */
final class Defaults implements BeanDefinitionRegistryPostProcessor, ResourceLoaderAware, EnvironmentAware {
    private static final boolean WEB = isPresent("jakarta.servlet.http.HttpServletRequest")
            && isPresent("org.springframework.web.context.request.RequestContextHolder");

    private static final Logger LOG = LoggerFactory.getLogger(Defaults.class);

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
            define("limiter", Limiter.class, this::start, registry);
        } else if (registry.containsBeanDefinition(LIMITER_OF_BOOT)) {
            warnOfAFileThatNobodyReads();
        }
        if (WEB) {
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
            define(
                    "callerSource",
                    RequestCallers.class,
                    () -> new RequestCallers(
                            factory.getBean(Limiter.class).config().clientIp()),
                    registry);
        }
        if (isMissing(RateLimitExceededAdvice.class, factory) && !RateLimitExceededAdvice.isReplaced(factory)) {
            define(
                    "rateLimitExceededAdvice",
                    RateLimitExceededAdvice.class,
                    () -> new RateLimitExceededAdvice(rejections(factory)),
                    registry);
        }
    }

    private static Rejections rejections(ConfigurableListableBeanFactory factory) {
        LimiterConfig config = factory.getBean(Limiter.class).config();
        RejectionHandler handler =
                factory.getBeanProvider(RejectionHandler.class).getIfAvailable();
        return handler == null ? Rejections.of(config) : Rejections.of(config, handler);
    }

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {}

    private Limiter start() {
        String place = environment.resolveRequiredPlaceholders(location);
        Resource resource = resources.getResource(place);
        LimiterConfig config;
        try (Reader text = new InputStreamReader(resource.getInputStream(), StandardCharsets.UTF_8.newDecoder())) {
            config = LimiterConfig.builder()
                    .text(place, text)
                    .environment(System.getenv())
                    .build();
        } catch (IOException unreadable) {
            throw new IllegalStateException(
                    "RL-108 @EnableRateLimiting(\"" + location + "\"): the file can't be read ("
                            + unreadable.getMessage() + "); add it, correct the name, or define a bean of type Limiter",
                    unreadable);
        }
        return Limiter.start(config);
    }

    private static <T> void define(String name, Class<T> type, Supplier<T> supplier, BeanDefinitionRegistry registry) {
        RootBeanDefinition definition = RateLimitingRegistrar.infrastructure(type);
        definition.setInstanceSupplier(supplier);
        registry.registerBeanDefinition(name, definition);
    }

    private static boolean isMissing(Class<?> type, ConfigurableListableBeanFactory factory) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(factory, type, true, false).length == 0;
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, Defaults.class.getClassLoader());
    }
}
