package io.limiter.application;

import io.limiter.config.LimiterConfig;
import io.limiter.redis.RedisBackend;
import java.time.Duration;

/** Starts limiters with a source that the test has made, on a Redis that has to answer. */
public final class SteppedLimiter {
    private SteppedLimiter() {}

    /** A limiter on the Redis of the configuration. */
    public static Limiter start(LimiterConfig config, ConfigSource source) {
        RedisBackend redis = (RedisBackend) BackendStart.redis(config.settings().redis());
        if (!redis.awaitConnected(Duration.ofMinutes(1))) {
            throw new AssertionError("there is no connection to Redis");
        }
        return Limiter.start(config, redis, source);
    }
}
