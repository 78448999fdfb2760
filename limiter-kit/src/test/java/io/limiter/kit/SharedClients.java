package io.limiter.kit;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;
import org.redisson.config.ReadMode;
import org.redisson.config.SubscriptionMode;

/**
 * One Redisson client, and one of Lettuce, for each shared server of {@link RedisServers}, made when it is first needed, for all tests of this JVM.
 * With the settings of the limiter's own clients, but with more time, since a test machine may be busy.
 */
final class SharedClients {
    private static final int TIMEOUT_MILLIS = 30_000;
    private static final int PING_MILLIS = 5_000;
    private static final int CONNECTIONS = 8;
    private static final int SCAN_MILLIS = 1_000;

    private SharedClients() {}

    static RedissonClient single() {
        return Single.CLIENT;
    }

    static RedissonClient newer() {
        return Newer.CLIENT;
    }

    static RedissonClient sentinel() {
        return Sentinel.CLIENT;
    }

    static RedissonClient cluster() {
        return Cluster.CLIENT;
    }

    static RedisClient lettuce() {
        return Lettuce.SINGLE;
    }

    static RedisClusterClient lettuceCluster() {
        return Lettuce.CLUSTER;
    }

    /** Never connected: the limiter takes what they have. */
    private static final class Lettuce {
        private static final ClientResources THREADS = ClientResources.create();
        static final RedisClient SINGLE = RedisClient.create(THREADS);
        static final RedisClusterClient CLUSTER = RedisClusterClient.create(
                THREADS, RedisServers.cluster().stream().map(RedisURI::create).toList());
    }

    private static final class Single {
        static final RedissonClient CLIENT = single(RedisServers.single());
    }

    private static final class Newer {
        static final RedissonClient CLIENT = single(RedisServers.newer());
    }

    private static final class Sentinel {
        static final RedissonClient CLIENT = sentinel(RedisServers.sentinel());
    }

    private static final class Cluster {
        static final RedissonClient CLIENT = cluster(RedisServers.cluster().toArray(String[]::new));
    }

    private static RedissonClient single(String address) {
        Config config = config();
        setTimes(config.useSingleServer()
                .setAddress(address)
                .setConnectionPoolSize(CONNECTIONS)
                .setConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(1)
                .setSubscriptionConnectionMinimumIdleSize(0));
        return made(config);
    }

    private static RedissonClient sentinel(String address) {
        Config config = config();
        setMastersOnly(config.useSentinelServers()
                .setMasterName(RedisServers.MASTER)
                .addSentinelAddress(address)
                .setCheckSentinelsList(false));
        return made(config);
    }

    private static RedissonClient cluster(String... addresses) {
        Config config = config();
        setMastersOnly(config.useClusterServers().addNodeAddress(addresses).setScanInterval(SCAN_MILLIS));
        return made(config);
    }

    private static Config config() {
        return new Config()
                .setThreads(2)
                .setNettyThreads(2)
                .setCodec(StringCodec.INSTANCE)
                .setUseThreadClassLoader(false);
    }

    private static void setMastersOnly(BaseMasterSlaveServersConfig<?> servers) {
        servers.setReadMode(ReadMode.MASTER);
        servers.setSubscriptionMode(SubscriptionMode.MASTER);
        servers.setMasterConnectionPoolSize(CONNECTIONS);
        servers.setMasterConnectionMinimumIdleSize(1);
        servers.setSubscriptionConnectionPoolSize(1);
        servers.setSubscriptionConnectionMinimumIdleSize(0);
        setTimes(servers);
    }

    private static void setTimes(BaseConfig<?> servers) {
        servers.setConnectTimeout(TIMEOUT_MILLIS);
        servers.setTimeout(TIMEOUT_MILLIS);
        servers.setRetryAttempts(0);
        servers.setPingConnectionInterval(PING_MILLIS);
        servers.setReconnectionDelay(new ConstantDelay(Duration.ofMillis(200)));
    }

    private static RedissonClient made(Config config) {
        RedissonClient client = Redisson.create(config);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> client.shutdown(0, 2, TimeUnit.SECONDS)));
        return client;
    }
}
