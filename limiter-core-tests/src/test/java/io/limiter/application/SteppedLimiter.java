package io.limiter.application;

import io.limiter.TimeSource;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.control.InForce;
import io.limiter.redis.RedisBackend;
import java.time.Duration;

/** Starts limiters whose overrides and switches end by a clock that the test steps, and that look often at what is published. */
public final class SteppedLimiter {
    private SteppedLimiter() {}

    /** A limiter on the Redis of the configuration, which has to answer within a minute. */
    public static Limiter start(LimiterConfig config, TimeSource time) {
        RedisBackend redis = (RedisBackend) BackendStart.redis(config.settings().redis());
        if (!redis.awaitConnected(Duration.ofMinutes(1))) {
            throw new AssertionError("there is no connection to Redis");
        }
        return Limiter.started(config, redis, new InForce(time, Duration.ofMillis(20)));
    }
}
