package io.limiter.spring.boot;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.Holding;
import io.limiter.spring.aop.RateLimiting;
import io.limiter.spring.internal.RateLimitedPostProcessor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Configures a {@link Limiter} from the application's properties {@code limiter.*}, and limits methods with {@link
 * io.limiter.spring.RateLimited}. The limiter uses the application's bean of type {@code RedissonClient} if there is
 * one, else the Redis of {@code limiter.redis.*}, else this JVM. An application's own {@link Limiter} replaces this
 * one; an own {@link RateLimiter} decides for the configured policies.
 */
@AutoConfiguration
public class LimiterAutoConfiguration {
    private static final String REFRESHED = "org.springframework.cloud.context.environment.EnvironmentChangeEvent";

    private static final Logger LOG = LoggerFactory.getLogger(LimiterAutoConfiguration.class);

    /** Called by Spring Boot. */
    public LimiterAutoConfiguration() {}

    /** Unless {@code limiter.enabled} is false. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = ApplicationText.ENABLED, matchIfMissing = true)
    static class Enabled implements SmartInitializingSingleton {
        private volatile @Nullable Limiter started;

        @Bean(IneffectiveSettingsCheck.LIMITER)
        @ConditionalOnMissingBean
        Limiter limiter(
                ConfigurableEnvironment environment,
                ApplicationContext application,
                ObjectProvider<RateLimiter> ownRateLimiter) {
            RateLimiter own = ownRateLimiter.getIfAvailable();
            LimiterConfig config = config(environment, application);
            if (own != null) {
                return Limiter.of(config, own);
            }
            Limiter limiter = start(config, application);
            started = limiter;
            return limiter;
        }

        /** Its bean exists by now, because {@link #noEffect} needs it; the web server takes no requests yet. */
        @Override
        public void afterSingletonsInstantiated() {
            Limiter limiter = started;
            if (limiter != null) {
                limiter.awaitConnected();
            }
        }

        /** Reloads the limiter when Spring Cloud has refreshed the environment. Spring Cloud is not needed. */
        @Bean("io.limiter.spring.refreshedEnvironment")
        @ConditionalOnBean(name = IneffectiveSettingsCheck.LIMITER)
        static ApplicationListener<ApplicationEvent> refreshedEnvironment(ObjectProvider<Limiter> limiter) {
            return event -> {
                if (event.getClass().getName().equals(REFRESHED)) {
                    try {
                        limiter.getObject().reload();
                    } catch (IllegalStateException refused) {
                        // Already logged; the refresh of the other beans continues.
                    }
                }
            };
        }

        @Bean("io.limiter.spring.noEffect")
        @ConditionalOnBean(name = IneffectiveSettingsCheck.LIMITER)
        IneffectiveSettingsCheck noEffect(
                Limiter limiter,
                ObjectProvider<RateLimitedPostProcessor> annotations,
                ConfigurableListableBeanFactory beans,
                ConfigurableEnvironment environment) {
            return new IneffectiveSettingsCheck(limiter, annotations, beans, environment);
        }

        // One in each context: a post processor of a parent does not process the beans of its children.
        @Bean("io.limiter.spring.rateLimitedPostProcessor")
        @ConditionalOnMissingBean(search = SearchStrategy.CURRENT)
        static RateLimitedPostProcessor rateLimitedPostProcessor(Environment environment) {
            RateLimitedPostProcessor processor = new RateLimitedPostProcessor();
            processor.setProxyTargetClass(
                    environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
            return processor;
        }

        @Bean("io.limiter.spring.lastPass")
        @ConditionalOnMissingBean(name = "io.limiter.spring.lastPass", search = SearchStrategy.CURRENT)
        static BeanPostProcessor lastPass(RateLimitedPostProcessor processor) {
            return processor.lastPass();
        }
    }

    /** The injectable beans exist, but limit nothing. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = ApplicationText.ENABLED, havingValue = "false")
    static class Disabled {
        @Bean(IneffectiveSettingsCheck.LIMITER)
        @ConditionalOnMissingBean
        @Lazy(false)
        Limiter limiter(ConfigurableEnvironment environment, ApplicationContext application) {
            return Limiter.start(config(environment, application));
        }

        @Bean("io.limiter.spring.rateLimiting")
        @ConditionalOnMissingBean
        @Lazy(false)
        RateLimiting rateLimiting() {
            return RateLimiting.useNone();
        }
    }

    /** For filters that are beans. */
    @Bean("io.limiter.spring.heldRequests")
    static HeldRequestsLifecycle heldRequests(ObjectProvider<Holding> filters) {
        return new HeldRequestsLifecycle(() -> filters.stream().toList());
    }

    private static LimiterConfig config(ConfigurableEnvironment environment, ListableBeanFactory beans) {
        return new ApplicationFiles(environment, hasClient(beans)).config();
    }

    private static Limiter start(LimiterConfig config, ListableBeanFactory beans) {
        boolean hasBean = config.isShared() && hasClient(beans);
        String where = hasBean
                ? "shared in Redis, through the application's bean of type RedissonClient (limiter.backend = in-process"
                        + " would not use it)"
                : config.isShared()
                        ? "shared in Redis, through a connection of limiter.redis.*"
                        : "local to this JVM: limiter.backend is in-process, or there is neither a bean of type"
                                + " RedissonClient nor limiter.redis.address";
        LOG.info("the limits are {}", where);
        return Limiter.startInBackground(
                config, hasBean ? RedissonBeans.backend(beans, config.settings().redis()) : null);
    }

    private static boolean hasClient(ListableBeanFactory beans) {
        return ClassUtils.isPresent("org.redisson.api.RedissonClient", LimiterAutoConfiguration.class.getClassLoader())
                && RedissonBeans.names(beans).length > 0;
    }
}
