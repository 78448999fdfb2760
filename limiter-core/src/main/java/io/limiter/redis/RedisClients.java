package io.limiter.redis;

import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ReadMode;
import org.redisson.config.SubscriptionMode;

/** Makes Redisson clients that are small: few threads, few connections, masters only. */
final class RedisClients {
    private static final int THREADS = 2;
    /** Below 10 connections Redisson sends the next command before the last one's reply has come. */
    private static final int CONNECTIONS = 4;

    private static final int CONNECT_TIMEOUT_MILLIS = 2_000;
    private static final int TIMEOUT_MILLIS = 2_000;

    private RedisClients() {}

    static RedissonClient single(String address) {
        Config config = config();
        patience(config.useSingleServer()
                .setAddress(address)
                .setConnectionPoolSize(CONNECTIONS)
                .setConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(1)
                .setSubscriptionConnectionMinimumIdleSize(0));
        return Redisson.create(config);
    }

    static RedissonClient cluster(List<String> addresses) {
        Config config = config();
        mastersOnly(config.useClusterServers().addNodeAddress(addresses.toArray(String[]::new)));
        return Redisson.create(config);
    }

    static RedissonClient sentinel(String master, List<String> addresses) {
        Config config = config();
        mastersOnly(config.useSentinelServers()
                .setMasterName(master)
                .addSentinelAddress(addresses.toArray(String[]::new))
                // One sentinel that answers is enough to start; a list of one is no mistake of ours to correct.
                .setCheckSentinelsList(false));
        return Redisson.create(config);
    }

    /** Redisson marks a configuration as used, so each attempt to connect takes a copy. */
    static RedissonClient of(Config config) {
        return Redisson.create(new Config(config));
    }

    /** An address fit for a message. */
    static String withoutPassword(String address) {
        return address.replaceAll("//.*@", "//***@");
    }

    private static void mastersOnly(BaseMasterSlaveServersConfig<?> servers) {
        servers.setReadMode(ReadMode.MASTER);
        servers.setSubscriptionMode(SubscriptionMode.MASTER);
        servers.setMasterConnectionPoolSize(CONNECTIONS);
        servers.setMasterConnectionMinimumIdleSize(1);
        servers.setSubscriptionConnectionPoolSize(1);
        servers.setSubscriptionConnectionMinimumIdleSize(0);
        patience(servers);
    }

    /** For Redisson's own commands, at the start say; decisions have their deadline. */
    private static void patience(BaseConfig<?> servers) {
        servers.setConnectTimeout(CONNECT_TIMEOUT_MILLIS);
        servers.setTimeout(TIMEOUT_MILLIS);
        servers.setRetryAttempts(0);
    }

    private static Config config() {
        return new Config()
                .setThreads(THREADS)
                .setNettyThreads(THREADS)
                .setCodec(StringCodec.INSTANCE)
                .setUseThreadClassLoader(false);
    }
}
