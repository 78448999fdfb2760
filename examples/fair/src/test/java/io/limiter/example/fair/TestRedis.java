package io.limiter.example.fair;

import io.limiter.kit.RedisServers;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** A client of the redis-server that the tests of this JVM share, for the plain classes. */
public final class TestRedis {
    private static final RedissonClient CLIENT = create();

    private TestRedis() {}

    /** One client for all tests. */
    public static RedissonClient client() {
        return CLIENT;
    }

    /** Removes the keys of a system. */
    public static RedissonClient cleared(String system) {
        CLIENT.getKeys().deleteByPattern("fair:" + system + ":*");
        CLIENT.getKeys().deleteByPattern("fair:{" + system + "}:*");
        return CLIENT;
    }

    private static RedissonClient create() {
        Config config = new Config().setCodec(StringCodec.INSTANCE);
        config.useSingleServer().setAddress(RedisServers.single()).setConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }
}
