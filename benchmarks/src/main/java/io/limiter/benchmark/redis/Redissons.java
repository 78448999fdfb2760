package io.limiter.benchmark.redis;

import org.redisson.config.Config;
import org.redisson.config.SingleServerConfig;

/** How the contenders on Redisson configure it. */
final class Redissons {
    private Redissons() {}

    /**
     * Redisson's defaults for a single server.
     *
     * @param tuned whether it has one thread and one connection, so that commands are written together
     */
    static Config config(String address, boolean tuned) {
        Config config = new Config();
        SingleServerConfig server = config.useSingleServer().setAddress(address);
        if (tuned) {
            config.setNettyThreads(1);
            server.setConnectionPoolSize(1).setConnectionMinimumIdleSize(1);
        }
        return config;
    }

    /** Set up as docs/redis.md advises an application, and as the limiter sets up its own. */
    static Config likeOurs(String address) {
        Config config = new Config().setNettyThreads(2).setThreads(2);
        config.useSingleServer()
                .setAddress(address)
                .setConnectionPoolSize(4)
                .setConnectionMinimumIdleSize(1)
                .setPingConnectionInterval(1_000);
        return config;
    }
}
