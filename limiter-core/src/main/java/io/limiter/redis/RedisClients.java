package io.limiter.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.IntFunction;
import java.util.function.ObjIntConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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
 * The Redis to use, and how a Redisson client for it is made. Ours are small: few threads, few connections, masters
 * only. A client connects when it is first used, so that it need not be replaced while Redis is not available yet.
 *
 * @param name the name of this Redis in messages
 * @param config by the factor of all times within which something must answer
 * @param given the application's client, never shut down by the limiter; null if one is made
 * @param takesLogin whether user and password can be set
 */
record RedisClients(String name, @Nullable RedissonClient given, boolean takesLogin, IntFunction<Config> config) {
    private static final int THREADS = 2;
    /** Below 10 connections Redisson sends the next command before the last one's reply has come. */
    private static final int CONNECTIONS = 4;

    /**
     * A connection that the network drops silently is detected as dead, and replaced, within twice this time. If threads that read
     * answers are held up for longer, Redisson closes connections that are well: of 12 stalls by 1.1 s it closed 6 with 1 000 ms.
     */
    private static final int PING_MILLIS = 1_500;

    /** After a move of slots, keys cost a second question for at most this time. */
    private static final int TOPOLOGY_MILLIS = 1_000;
    /** On a starved machine a connection takes long: the times are doubled after 4, 8 and 16 attempts. */
    private static final int LONGEST_FACTOR = 8;

    private static final int LAST_LONGER = 2 * LONGEST_FACTOR;
    /** Each failed attempt leaves some kilobytes in a client of Redisson, so it is replaced every few minutes. */
    private static final int ATTEMPTS_OF_A_CLIENT = 500;

    /** A name that leads to another address counts within this time. */
    private static final int DNS_MILLIS = 1_000;

    private static final int CONNECT_TIMEOUT_MILLIS = 500;
    private static final int TIMEOUT_MILLIS = 1_000;
    /** So that Redis decides again within a second of its recovery. Redisson's own waits grow to ten seconds. */
    private static final Duration RECONNECT_PAUSE = Duration.ofMillis(200);

    /** The database after the port of an address. */
    private static final Pattern DATABASE = Pattern.compile("(?<=:\\d{1,5})/(\\d{1,5})$");

    static RedisClients given(RedissonClient client) {
        return new RedisClients("Redis", Objects.requireNonNull(client, "client"), false, factor -> new Config());
    }

    static RedisClients of(Config config) {
        Config own = new Config(config);
        if (!own.isSingleConfig() && !own.isClusterConfig() && !own.isSentinelConfig()) {
            setMasterOnly(own);
        }
        return new RedisClients("Redis", null, false, factor -> new Config(own));
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

    static RedisClients single(String address) {
        return own("Redis at " + withoutPassword(address), (config, factor) -> {
            Matcher database = DATABASE.matcher(address);
            SingleServerConfig server = config.useSingleServer()
                    .setDnsMonitoringInterval(DNS_MILLIS)
                    .setAddress(database.replaceFirst(""))
                    .setDatabase(database.reset().find() ? Integer.parseInt(database.group(1)) : 0)
                    .setConnectionPoolSize(CONNECTIONS)
                    .setConnectionMinimumIdleSize(1)
                    .setSubscriptionConnectionPoolSize(1)
                    .setSubscriptionConnectionMinimumIdleSize(0);
            setTimes(server, factor);
        });
    }

    static RedisClients cluster(List<String> addresses) {
        String[] nodes = nodes(
                addresses,
                "a cluster needs an address of at least one node",
                "a cluster has one database; remove what follows the port");
        List<String> shown =
                Arrays.stream(nodes).map(RedisClients::withoutPassword).toList();
        return own(
                "the Redis Cluster at " + shown,
                (config, factor) -> setMastersOnly(
                        config.useClusterServers().addNodeAddress(nodes).setScanInterval(TOPOLOGY_MILLIS), factor));
    }

    static RedisClients sentinel(String master, List<String> addresses) {
        Objects.requireNonNull(master, "master");
        String[] sentinels = nodes(
                addresses,
                "master '" + master + "' needs the address of at least one sentinel",
                "sentinels have no databases; choose the master's in config(...) or yaml(...)");
        // One sentinel that answers is enough to start; a list of one is allowed.
        return own(
                "the Redis master " + master,
                (config, factor) -> setMastersOnly(
                        config.useSentinelServers()
                                .setMasterName(master)
                                .addSentinelAddress(sentinels)
                                .setCheckSentinelsList(false),
                        factor));
    }

    private static RedisClients own(String name, ObjIntConsumer<Config> servers) {
        return new RedisClients(name, null, true, factor -> {
            Config small = new Config()
                    .setThreads(THREADS)
                    .setNettyThreads(THREADS)
                    .setCodec(StringCodec.INSTANCE)
                    .setUseThreadClassLoader(false);
            servers.accept(small, factor);
            return small;
        });
    }

    /**
     * Logs in to the masters.
     *
     * @param username null for Redis' default user
     * @throws IllegalStateException if the client logs in itself
     */
    RedisClients withLogin(@Nullable String username, String password) {
        if (!takesLogin) {
            throw new IllegalStateException("credentials(...) are for address(...), sentinel(...) and cluster(...);"
                    + " the configuration of a client of your own has them already");
        }
        return new RedisClients(
                name,
                given,
                false,
                factor -> config.apply(factor).setUsername(username).setPassword(password));
    }

    /** Whether it is addressed by TLS. */
    boolean isTls() {
        try {
            return (given != null ? given.getConfig() : config.apply(1))
                    .toYAML()
                    .contains("rediss://");
        } catch (IOException | RuntimeException unwritable) {
            return false;
        }
    }

    /**
     * The way to this Redis, which may not be connected yet.
     *
     * @param attempt the number of the attempt to connect, from 1 on
     */
    Transport make(ScheduledExecutorService timer, int attempt) {
        int factor = Math.min(LONGEST_FACTOR, Math.max(1, Integer.highestOneBit(attempt) / 2));
        RedissonClient client =
                given != null ? given : Redisson.create(config.apply(factor).setLazyInitialization(true));
        return new RedissonTransport(client, given == null, timer);
    }

    /**
     * Whether this attempt to connect needs another client than the one before.
     *
     * @param tookMicros how long that took until it failed
     */
    static boolean makesAnother(int attempt, long tookMicros) {
        boolean takesLonger = attempt >= 4 && attempt <= LAST_LONGER && Integer.bitCount(attempt) == 1;
        return (takesLonger && tookMicros >= CONNECT_TIMEOUT_MILLIS * 1_000L) || attempt % ATTEMPTS_OF_A_CLIENT == 0;
    }

    private static String[] nodes(List<String> addresses, String ifNone, String ifDatabase) {
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException(ifNone);
        }
        for (String address : addresses) {
            Matcher database = DATABASE.matcher(address);
            if (database.find() && Integer.parseInt(database.group(1)) > 0) {
                throw new IllegalArgumentException("'" + withoutPassword(address) + "': " + ifDatabase);
            }
        }
        return addresses.toArray(String[]::new);
    }

    /** An address for a message: without anything before the host. */
    private static String withoutPassword(String address) {
        return address.replaceFirst("(?s)^([^:/@]*://)?.*@", "$1***@");
    }

    private static void setMastersOnly(BaseMasterSlaveServersConfig<?> servers, int factor) {
        servers.setDnsMonitoringInterval(DNS_MILLIS);
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
