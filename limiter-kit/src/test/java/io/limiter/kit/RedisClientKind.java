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

    /** On {@link RedisServers#single}, by a client that gives up no connection because the machine is busy. */
    public RedisBackend.Builder single() {
        return this == REDISSON ? Backends.single() : Backends.lettuce();
    }

    /** The same on {@link RedisServers#cluster}. */
    public RedisBackend.Builder cluster() {
        return this == REDISSON ? Backends.sharedCluster() : Backends.lettuceCluster();
    }
}
