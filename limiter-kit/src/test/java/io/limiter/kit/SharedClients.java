package io.limiter.kit;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
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
    private static final Map<String, RedissonClient> MADE = new ConcurrentHashMap<>();

    private SharedClients() {}

    static RedissonClient single() {
        return single(RedisServers.single());
    }

    static RedissonClient newer() {
        return single(RedisServers.newer());
    }

    static RedissonClient sentinel() {
        return at(
                RedisServers.sentinel(),
                (config, address) -> setMastersOnly(config.useSentinelServers()
                        .setMasterName(RedisServers.MASTER)
                        .addSentinelAddress(address)
                        .setCheckSentinelsList(false)));
    }

    static RedissonClient cluster() {
        return at(
                RedisServers.cluster().get(0),
                (config, address) -> setMastersOnly(config.useClusterServers()
                        .addNodeAddress(RedisServers.cluster().toArray(String[]::new))
                        .setScanInterval(SCAN_MILLIS)));
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

    private static RedissonClient single(String server) {
        return at(server, SharedClients::setSingle);
    }

    private static void setSingle(Config config, String address) {
        setTimes(config.useSingleServer()
                .setAddress(address)
                .setConnectionPoolSize(CONNECTIONS)
                .setConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(1)
                .setSubscriptionConnectionMinimumIdleSize(0));
    }

    /** The same for a client of its own. */
    static Config config(String address) {
        Config config = config();
        setSingle(config, address);
        return config;
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

    /** The client of this address, made when it is first asked for. */
    private static RedissonClient at(String server, BiConsumer<Config, String> servers) {
        return MADE.computeIfAbsent(server, address -> {
            Config config = config();
            servers.accept(config, address);
            RedissonClient client = Redisson.create(config);
            Runtime.getRuntime().addShutdownHook(new Thread(() -> client.shutdown(0, 2, TimeUnit.SECONDS)));
            return client;
        });
    }
}
