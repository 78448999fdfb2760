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

    /**
     * Set up as docs/redis.md advises an application, and as the limiter sets up its own.
     *
     * @param addresses that of a server, or those of masters of a cluster with commas between
     */
    static Config likeOurs(String addresses) {
        Config config = new Config().setNettyThreads(2).setThreads(2);
        if (addresses.contains(",")) {
            config.useClusterServers()
                    .addNodeAddress(addresses.split(","))
                    .setMasterConnectionPoolSize(4)
                    .setMasterConnectionMinimumIdleSize(1)
                    .setPingConnectionInterval(1_000);
            return config;
        }
        config.useSingleServer()
                .setAddress(addresses)
                .setConnectionPoolSize(4)
                .setConnectionMinimumIdleSize(1)
                .setPingConnectionInterval(1_000);
        return config;
    }
}
