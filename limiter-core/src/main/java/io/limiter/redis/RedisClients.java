package io.limiter.redis;

import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
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
        config.useSingleServer()
                .setAddress(address)
                .setConnectionPoolSize(CONNECTIONS)
                .setConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(1)
                .setSubscriptionConnectionMinimumIdleSize(0)
                .setConnectTimeout(CONNECT_TIMEOUT_MILLIS)
                .setTimeout(TIMEOUT_MILLIS)
                .setRetryAttempts(0);
        return Redisson.create(config);
    }

    static RedissonClient cluster(List<String> addresses) {
        Config config = config();
        config.useClusterServers()
                .addNodeAddress(addresses.toArray(String[]::new))
                .setReadMode(ReadMode.MASTER)
                .setSubscriptionMode(SubscriptionMode.MASTER)
                .setMasterConnectionPoolSize(CONNECTIONS)
                .setMasterConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(1)
                .setSubscriptionConnectionMinimumIdleSize(0)
                .setConnectTimeout(CONNECT_TIMEOUT_MILLIS)
                .setTimeout(TIMEOUT_MILLIS)
                .setRetryAttempts(0);
        return Redisson.create(config);
    }

    static RedissonClient sentinel(String master, List<String> addresses) {
        Config config = config();
        config.useSentinelServers()
                .setMasterName(master)
                .addSentinelAddress(addresses.toArray(String[]::new))
                // One sentinel that answers is enough to start; a list of one is no mistake of ours to correct.
                .setCheckSentinelsList(false)
                .setReadMode(ReadMode.MASTER)
                .setSubscriptionMode(SubscriptionMode.MASTER)
                .setMasterConnectionPoolSize(CONNECTIONS)
                .setMasterConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(1)
                .setSubscriptionConnectionMinimumIdleSize(0)
                .setConnectTimeout(CONNECT_TIMEOUT_MILLIS)
                .setTimeout(TIMEOUT_MILLIS)
                .setRetryAttempts(0);
        return Redisson.create(config);
    }

    /** Redisson marks a configuration as used, so each attempt to connect takes a copy. */
    static RedissonClient of(Config config) {
        return Redisson.create(new Config(config));
    }

    /** Addresses fit for a message. */
    static String withoutPassword(String addresses) {
        return addresses.replaceAll("//[^,\\s]*@", "//***@");
    }

    private static Config config() {
        return new Config()
                .setThreads(THREADS)
                .setNettyThreads(THREADS)
                .setCodec(StringCodec.INSTANCE)
                .setUseThreadClassLoader(false);
    }
}
