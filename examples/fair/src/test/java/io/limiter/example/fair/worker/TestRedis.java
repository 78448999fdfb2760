package io.limiter.example.fair.worker;

import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import java.time.Duration;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/** Clients of the tests. Each must be shut down. */
public final class TestRedis {
    /** How long a test waits for what must happen. */
    public static final Duration LONG = Duration.ofSeconds(60);

    private TestRedis() {}

    /** A client of the tests' redis-server, with the keys of a system deleted. */
    public static RedissonClient without(String system) {
        RedissonClient redisson = connect(RedisServers.single(), LONG, Duration.ofSeconds(30));
        redisson.getKeys().deleteByPattern("fair:*" + system + "*");
        redisson.getKeys().deleteByPattern("redisson_lock_token:*" + system + "*");
        return redisson;
    }

    /** A client that does not ask twice. */
    public static RedissonClient connect(String address, Duration timeout, Duration watchdog) {
        Config config = new Config().setCodec(StringCodec.INSTANCE).setLockWatchdogTimeout(watchdog.toMillis());
        config.useSingleServer()
                .setAddress(address)
                .setRetryAttempts(0)
                .setTimeout((int) timeout.toMillis())
                .setConnectTimeout((int) LONG.toMillis())
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(8)
                .setSubscriptionConnectionMinimumIdleSize(1);
        return Redisson.create(config.setThreads(2).setNettyThreads(2));
    }

    /** Prints how long something took, where the build asked for many repetitions. */
    public static void figure(String what, long sinceNanos) {
        if (Repeats.of(0, 1) > 0) {
            System.out.println(what + ": " + (System.nanoTime() - sinceNanos) / 1_000_000 + " ms");
        }
    }
}
