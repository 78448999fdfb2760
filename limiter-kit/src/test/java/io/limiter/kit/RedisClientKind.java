package io.limiter.kit;

import io.limiter.redis.RedisBackend;

/** The clients by which a backend reaches the addresses of a Redis, for tests of what each must do. */
public enum RedisClientKind {
    /** Redisson. */
    REDISSON,
    /** Lettuce. */
    LETTUCE;

    /** A builder, which needs addresses. */
    public RedisBackend.Builder builder() {
        return this == REDISSON
                ? RedisBackend.builder().redisson()
                : RedisBackend.builder().lettuce();
    }
}
