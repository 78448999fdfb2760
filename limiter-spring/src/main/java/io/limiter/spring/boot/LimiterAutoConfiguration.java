package io.limiter.spring.boot;

import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.http.internal.Holding;
import io.limiter.internal.config.RedisSettings;
import io.limiter.internal.config.RedisSettings.RedisClientChoice;
import io.limiter.redis.RedisBackend;
import io.limiter.spring.aop.RateLimiting;
import io.limiter.spring.boot.internal.FilterPlaces;
import io.limiter.spring.internal.RateLimitedPostProcessor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Configures a {@link Limiter} from the application's properties {@code limiter.*}, and limits methods with {@link
 * io.limiter.spring.RateLimited}. The limiter uses the application's bean of type {@code RedissonClient} if there is
 * one, else the Redis of {@code limiter.redis.*}, else with {@code limiter.backend = redis} that of Spring Data, else this JVM. An application's own {@link Limiter} replaces this
 * one; an own {@link RateLimiter} decides for the configured policies.
 */
@AutoConfiguration
public class LimiterAutoConfiguration {

    private static final String REDISSON = "org.redisson.api.RedissonClient";

    private static final String SPRING_DATA = "org.springframework.data.redis.connection.RedisConnectionFactory";

    private static final String LETTUCE = "io.lettuce.core.RedisClient";

    private static final Logger LOG = LoggerFactory.getLogger(LimiterAutoConfiguration.class);

    /** Called by Spring Boot. */
    public LimiterAutoConfiguration() {}

    /** Unless {@code limiter.enabled} is false. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnProperty(name = ApplicationText.ENABLED, matchIfMissing = true)
    static class Enabled {
        @Bean(LimiterStartup.LIMITER)
        @ConditionalOnMissingBean
        Limiter limiter(
                ConfigurableEnvironment environment,
                ApplicationContext application,
                ObjectProvider<RateLimiter> ownRateLimiter) {
            RateLimiter own = ownRateLimiter.getIfAvailable();
            LimiterConfig config = config(environment, application);
            return own == null ? start(config, application, environment) : Limiter.of(config, own);
        }

        @Bean("io.limiter.spring.limiterStartup")
        @ConditionalOnBean(name = LimiterStartup.LIMITER)
        LimiterStartup limiterStartup(
                Limiter limiter, ConfigurableListableBeanFactory beans, ConfigurableEnvironment environment) {
            return new LimiterStartup(limiter, beans, environment);
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
        @Bean(LimiterStartup.LIMITER)
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
        // Spring Data connects any application that has its library, so only one that asks for Redis.
        boolean hasClient = FilterPlaces.has(beans, REDISSON)
                || (environment.getProperty("limiter.backend", "").strip().equalsIgnoreCase("redis")
                        && FilterPlaces.has(beans, SPRING_DATA));
        return new ApplicationFiles(environment, hasClient).config();
    }

    private static Limiter start(LimiterConfig config, ListableBeanFactory beans, Environment environment) {
        RedisSettings settings = config.settings().redis();
        if (!config.isShared()) {
            LOG.info(
                    "the limits are local to this JVM: limiter.backend is in-process, or there is neither a bean of type"
                            + " RedissonClient nor limiter.redis.address{}",
                    FilterPlaces.has(beans, SPRING_DATA)
                            ? "; to share them in the Redis of spring.data.redis.*, set limiter.backend = redis"
                            : "");
            return Limiter.startInBackground(config, null);
        }
        boolean isRedisson = FilterPlaces.has(beans, REDISSON);
        if (!isRedisson && !settings.connection().isMissing()) {
            LOG.info("the limits are shared in Redis, through a connection of limiter.redis.*");
            return Limiter.startInBackground(config, null);
        }
        RedisBackend.Builder redis = RedisBackend.builder()
                .prefix(settings.prefix())
                .deadline(settings.deadline())
                .denialMaxAge(settings.denialMaxAge())
                .keyHash(settings.keyHash());
        if (isRedisson) {
            LOG.info("the limits are shared in Redis, through the application's bean of type RedissonClient");
            RedissonBeans.given(redis, beans);
        } else if (settings.connection().client() == RedisClientChoice.REDISSON) {
            throw new IllegalStateException("RL-116 limiter.redis.client = redisson, but there is no bean of type"
                    + " RedissonClient; remove the line, or add limiter.redis.address = redis://127.0.0.1:6379");
        } else if (!ClassUtils.isPresent(LETTUCE, null)) {
            throw new IllegalStateException(
                    "RL-116 of Spring Data's connections to Redis only Lettuce's can be used; add"
                            + " io.lettuce:lettuce-core and spring.data.redis.client-type = lettuce, or org.redisson:redisson and"
                            + " limiter.redis.address = redis://127.0.0.1:6379");
        } else {
            LettuceBeans.given(redis, beans, environment);
            LOG.info("the limits are shared in Redis, through Spring Data's connection factory");
        }
        return Limiter.startInBackground(config, redis.build());
    }
}
