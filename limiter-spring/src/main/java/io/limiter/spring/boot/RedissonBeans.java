package io.limiter.spring.boot;

import io.limiter.Backend;
import io.limiter.internal.config.RedisSettings;
import io.limiter.redis.RedisBackend;
import org.redisson.api.RedissonClient;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;

/** The application's own Redisson. This class must not be loaded without Redisson. */
final class RedissonBeans {
    private RedissonBeans() {}

    /** A backend on the application's only or primary client, which the limiter never closes. */
    static Backend backend(ListableBeanFactory beans, RedisSettings settings) {
        return RedisBackend.builder()
                .client(beans.getBeanProvider(RedissonClient.class).getObject())
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
