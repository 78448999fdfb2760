package io.limiter.spring.boot;

import io.limiter.redis.RedisBackend;
import org.redisson.api.RedissonClient;
import org.springframework.beans.factory.ListableBeanFactory;

/** The application's own Redisson. This class must not be loaded without Redisson. */
final class RedissonBeans {
    private RedissonBeans() {}

    /** Adds the application's only or primary client, which the limiter never closes. */
    static void given(RedisBackend.Builder redis, ListableBeanFactory beans) {
        redis.client(beans.getBeanProvider(RedissonClient.class).getObject());
    }
}
