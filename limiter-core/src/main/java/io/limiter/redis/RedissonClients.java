package io.limiter.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.IntFunction;
import java.util.regex.Matcher;
import org.jspecify.annotations.Nullable;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;
import org.redisson.config.ReadMode;
import org.redisson.config.SingleServerConfig;
import org.redisson.config.SubscriptionMode;

/**
 * A Redis behind Redisson. Clients of ours are small: few threads, few connections, masters only. A client connects when it is first
 * used, so that it need not be replaced while Redis is not available yet.
 *
 * @param name the name of this Redis in messages
 * @param config by the factor of all times within which something must answer
 * @param given the application's client, never shut down by the limiter; null if one is made
 */
record RedissonClients(String name, @Nullable RedissonClient given, IntFunction<Config> config)
        implements RedisClients {
    private static final int THREADS = 2;
    /** Below 10 connections Redisson sends the next command before the last one's reply has come. */
    private static final int CONNECTIONS = 4;

    /**
     * A connection that the network drops silently is detected as dead, and replaced, within twice this time. If threads that read
     * answers are held up for longer, Redisson closes connections that are well: of 12 stalls by 1.1 s it closed 6 with 1 000 ms.
     */
    private static final int PING_MILLIS = 1_500;

    /** So that Redis decides again within a second of its recovery. Redisson's own waits grow to ten seconds. */
    private static final Duration RECONNECT_PAUSE = Duration.ofMillis(200);

    static RedisClients given(RedissonClient client) {
        return new RedissonClients("Redis", Objects.requireNonNull(client, "client"), factor -> new Config());
    }

    static RedisClients of(Config config) {
        Config own = new Config(config);
        if (!own.isSingleConfig() && !own.isClusterConfig() && !own.isSentinelConfig()) {
            setMasterOnly(own);
        }
        return new RedissonClients("Redis", null, factor -> new Config(own));
    }

    /** Decisions need the master: a reader that is away must not keep them from it. Replicated servers are asked which one that is. */
    private static void setMasterOnly(Config own) {
        try {
            own.useMasterSlaveServers()
                    .setReadMode(ReadMode.MASTER)
                    .setSubscriptionMode(SubscriptionMode.MASTER)
                    .setSlaveAddresses(Set.of());
        } catch (IllegalStateException replicated) {
            // They have no readers that are written down.
        }
    }

    static RedisClients ofYaml(String text) {
        try {
            return of(Config.fromYAML(text));
        } catch (RuntimeException e) {
            // Its message would show lines of the text, which may contain a password.
            throw new IllegalArgumentException("RL-113 not a Redisson configuration in YAML ("
                    + e.getClass().getSimpleName() + "); check its indentation and quotes");
        }
    }

    /** A small client of ours to the addresses. */
    static RedisClients of(RedisAddresses servers) {
        return new RedissonClients(servers.name(), null, factor -> {
            Config small = new Config()
                    .setThreads(THREADS)
                    .setNettyThreads(THREADS)
                    .setCodec(StringCodec.INSTANCE)
                    .setUseThreadClassLoader(false);
            setServers(small, servers, factor);
            return servers.password() == null
                    ? small
                    : small.setUsername(servers.username()).setPassword(servers.password());
        });
    }

    private static void setServers(Config config, RedisAddresses servers, int factor) {
        String[] addresses = servers.addresses().toArray(String[]::new);
        switch (servers.kind()) {
            case SINGLE -> setSingle(config.useSingleServer(), addresses[0], factor);
            case CLUSTER ->
                setMastersOnly(
                        config.useClusterServers().addNodeAddress(addresses).setScanInterval(TOPOLOGY_MILLIS), factor);
            // One sentinel that answers is enough to start; a list of one is allowed.
            case SENTINEL ->
                setMastersOnly(
                        config.useSentinelServers()
                                .setMasterName(Objects.requireNonNull(servers.master()))
                                .addSentinelAddress(addresses)
                                .setCheckSentinelsList(false),
                        factor);
        }
    }

    @Override
    public boolean isTls() {
        try {
            return (given != null ? given.getConfig() : config.apply(1))
                    .toYAML()
                    .contains("rediss://");
        } catch (IOException | RuntimeException unwritable) {
            return false;
        }
    }

    @Override
    public Transport make(ScheduledExecutorService timer, int attempt) {
        Config set = config.apply(RedisClients.factor(attempt)).setLazyInitialization(true);
        return new RedissonTransport(given != null ? given : Redisson.create(set), given == null, timer);
    }

    private static void setSingle(SingleServerConfig server, String address, int factor) {
        Matcher database = RedisAddresses.DATABASE.matcher(address);
        server.setDnsMonitoringInterval(TOPOLOGY_MILLIS)
                .setAddress(database.replaceFirst(""))
                .setDatabase(database.reset().find() ? Integer.parseInt(database.group(1)) : 0)
                .setConnectionPoolSize(CONNECTIONS)
                .setConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(1)
                .setSubscriptionConnectionMinimumIdleSize(0);
        setTimes(server, factor);
    }

    private static void setMastersOnly(BaseMasterSlaveServersConfig<?> servers, int factor) {
        servers.setDnsMonitoringInterval(TOPOLOGY_MILLIS);
        servers.setReadMode(ReadMode.MASTER);
        servers.setSubscriptionMode(SubscriptionMode.MASTER);
        servers.setMasterConnectionPoolSize(CONNECTIONS);
        servers.setMasterConnectionMinimumIdleSize(1);
        servers.setSubscriptionConnectionPoolSize(1);
        servers.setSubscriptionConnectionMinimumIdleSize(0);
        setTimes(servers, factor);
    }

    /** For Redisson's own commands, for example at startup; decisions have their deadline. */
    private static void setTimes(BaseConfig<?> servers, int factor) {
        servers.setConnectTimeout(factor * CONNECT_TIMEOUT_MILLIS);
        servers.setTimeout(factor * TIMEOUT_MILLIS);
        servers.setRetryAttempts(0);
        servers.setPingConnectionInterval(PING_MILLIS);
        servers.setReconnectionDelay(new ConstantDelay(RECONNECT_PAUSE));
    }
}
