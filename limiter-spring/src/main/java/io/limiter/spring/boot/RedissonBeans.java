package io.limiter.spring.boot;

import io.limiter.Backend;
import io.limiter.internal.config.RedisSettings;
import io.limiter.redis.RedisBackend;
import java.util.Arrays;
import org.redisson.api.RedissonClient;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;

/** The application's own Redisson. This class must not be loaded without Redisson. */
final class RedissonBeans {
    private RedissonBeans() {}

    /**
     * A backend on the application's client, which the limiter never closes.
     *
     * @throws IllegalStateException if there are several and none is primary
     */
    static Backend backend(ListableBeanFactory beans, RedisSettings settings) {
        RedissonClient client;
        try {
            client = beans.getBeanProvider(RedissonClient.class).getObject();
        } catch (NoUniqueBeanDefinitionException several) {
            // Not as the cause: Spring Boot would explain that one instead, without our remedies.
            throw new IllegalStateException("RL-116 there are several beans of type RedissonClient, "
                    + Arrays.toString(names(beans))
                    + ", and none is chosen for the limits; mark one of them with @Primary, or define a bean of type"
                    + " Limiter, or write limiter.backend = in-process");
        }
        return RedisBackend.builder()
                .client(client)
                .prefix(settings.prefix())
                .deadline(settings.deadline())
                .denialMaxAge(settings.denialMaxAge())
                .keyHash(settings.keyHash())
                .build();
    }

    /** The names of the beans of that type; does not create any. */
    static String[] names(ListableBeanFactory beans) {
        return BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beans, RedissonClient.class, true, false);
    }
}
