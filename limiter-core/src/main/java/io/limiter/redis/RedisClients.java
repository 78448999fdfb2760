package io.limiter.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import java.util.function.Supplier;
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
import org.redisson.config.SubscriptionMode;

/**
 * The Redis to use, and how a Redisson client for it is made. Ours are small: few threads, few connections, masters
 * only. A client connects when it is first used, so that it need not be replaced while Redis is not available yet.
 *
 * @param name the name of this Redis in messages
 * @param given the application's client, never shut down by the limiter; null if one is made
 * @param takesLogin whether user and password can be set
 */
record RedisClients(String name, @Nullable RedissonClient given, boolean takesLogin, Supplier<Config> config) {
    private static final int THREADS = 2;
    /** Below 10 connections Redisson sends the next command before the last one's reply has come. */
    private static final int CONNECTIONS = 4;

    /** A connection that the network drops silently is detected as dead, and replaced, within twice this time. */
    private static final int PING_MILLIS = 1_000;

    private static final int CONNECT_TIMEOUT_MILLIS = 500;
    private static final int TIMEOUT_MILLIS = 1_000;
    /** So that Redis decides again within a second of its recovery. Redisson's own waits grow to ten seconds. */
    private static final Duration RECONNECT_PAUSE = Duration.ofMillis(200);

    /** The database after the port of an address. */
    private static final Pattern DATABASE = Pattern.compile("(?<=:\\d{1,5})/(\\d{1,5})$");

    static RedisClients given(RedissonClient client) {
        return new RedisClients("Redis", Objects.requireNonNull(client, "client"), false, Config::new);
    }

    static RedisClients of(Config config) {
        Config own = new Config(config);
        return new RedisClients("Redis", null, false, () -> new Config(own));
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
        return own("Redis at " + withoutPassword(address), config -> {
            Matcher database = DATABASE.matcher(address);
            setTimes(config.useSingleServer()
                    .setAddress(database.replaceFirst(""))
                    .setDatabase(database.reset().find() ? Integer.parseInt(database.group(1)) : 0)
                    .setConnectionPoolSize(CONNECTIONS)
                    .setConnectionMinimumIdleSize(1)
                    .setSubscriptionConnectionPoolSize(1)
                    .setSubscriptionConnectionMinimumIdleSize(0));
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
                config -> setMastersOnly(config.useClusterServers().addNodeAddress(nodes)));
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
                config -> setMastersOnly(config.useSentinelServers()
                        .setMasterName(master)
                        .addSentinelAddress(sentinels)
                        .setCheckSentinelsList(false)));
    }

    private static RedisClients own(String name, Consumer<Config> servers) {
        return new RedisClients(name, null, true, () -> {
            Config small = new Config()
                    .setThreads(THREADS)
                    .setNettyThreads(THREADS)
                    .setCodec(StringCodec.INSTANCE)
                    .setUseThreadClassLoader(false);
            servers.accept(small);
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
                name, given, false, () -> config.get().setUsername(username).setPassword(password));
    }

    /** The way to this Redis, which may not be connected yet. */
    Transport make(ScheduledExecutorService timer) {
        RedissonClient client =
                given != null ? given : Redisson.create(config.get().setLazyInitialization(true));
        return new RedissonTransport(client, given == null, timer);
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

    private static void setMastersOnly(BaseMasterSlaveServersConfig<?> servers) {
        servers.setReadMode(ReadMode.MASTER);
        servers.setSubscriptionMode(SubscriptionMode.MASTER);
        servers.setMasterConnectionPoolSize(CONNECTIONS);
        servers.setMasterConnectionMinimumIdleSize(1);
        servers.setSubscriptionConnectionPoolSize(1);
        servers.setSubscriptionConnectionMinimumIdleSize(0);
        setTimes(servers);
    }

    /** For Redisson's own commands, for example at startup; decisions have their deadline. */
    private static void setTimes(BaseConfig<?> servers) {
        servers.setConnectTimeout(CONNECT_TIMEOUT_MILLIS);
        servers.setTimeout(TIMEOUT_MILLIS);
        servers.setRetryAttempts(0);
        servers.setPingConnectionInterval(PING_MILLIS);
        servers.setReconnectionDelay(new ConstantDelay(RECONNECT_PAUSE));
    }
}
