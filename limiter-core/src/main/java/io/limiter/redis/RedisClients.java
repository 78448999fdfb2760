package io.limiter.redis;

import io.limiter.DiagnosticLog;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.BaseConfig;
import org.redisson.config.BaseMasterSlaveServersConfig;
import org.redisson.config.Config;
import org.redisson.config.ConstantDelay;
import org.redisson.config.ReadMode;
import org.redisson.config.SubscriptionMode;
import org.slf4j.Logger;

/** Makes Redisson clients that are small: few threads, few connections, masters only. */
final class RedisClients {
    private static final Logger LOG = DiagnosticLog.of(RedisBackend.class);
    private static final int THREADS = 2;
    /** Below 10 connections Redisson sends the next command before the last one's reply has come. */
    private static final int CONNECTIONS = 4;

    /** A connection that a network swallowed is known as dead, and replaced, within this and the next of these times. */
    private static final int PING_MILLIS = 1_000;

    private static final int CONNECT_TIMEOUT_MILLIS = 500;
    private static final int TIMEOUT_MILLIS = 1_000;
    /** So that Redis decides again within a second of its return. Redisson's own waits grow to ten. */
    private static final Duration RECONNECT_PAUSE = Duration.ofMillis(200);

    private static final int SHUTDOWN_SECONDS = 2;
    /** What follows the port of an address. */
    private static final Pattern DATABASE = Pattern.compile("(?<=:\\d{1,5})/(\\d{1,5})$");

    private RedisClients() {}

    static RedissonClient single(String address, Login login) {
        Config config = config(login);
        Matcher database = DATABASE.matcher(address);
        patience(config.useSingleServer()
                .setAddress(database.replaceFirst(""))
                .setDatabase(database.reset().find() ? Integer.parseInt(database.group(1)) : 0)
                .setConnectionPoolSize(CONNECTIONS)
                .setConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionPoolSize(1)
                .setSubscriptionConnectionMinimumIdleSize(0));
        return Redisson.create(config);
    }

    static RedissonClient cluster(List<String> addresses, Login login) {
        Config config = config(login);
        mastersOnly(config.useClusterServers().addNodeAddress(addresses.toArray(String[]::new)));
        return Redisson.create(config);
    }

    static RedissonClient sentinel(String master, List<String> addresses, Login login) {
        Config config = config(login);
        mastersOnly(config.useSentinelServers()
                .setMasterName(master)
                .addSentinelAddress(addresses.toArray(String[]::new))
                // One sentinel that answers is enough to start; a list of one is no mistake of ours to correct.
                .setCheckSentinelsList(false));
        return Redisson.create(config);
    }

    /**
     * Refuses addresses with a database where there is none to choose.
     *
     * @throws IllegalArgumentException if there is such an address
     */
    static void refuseDatabase(List<String> addresses, String remedy) {
        for (String address : addresses) {
            Matcher database = DATABASE.matcher(address);
            if (database.find() && Integer.parseInt(database.group(1)) > 0) {
                throw new IllegalArgumentException("'" + withoutPassword(address) + "': " + remedy);
            }
        }
    }

    /** Redisson marks a configuration as used, so each attempt to connect takes a copy. */
    static RedissonClient of(Config config) {
        return Redisson.create(new Config(config));
    }

    /**
     * Ends a client of our own. Netty has one thread for the whole JVM, or for the whole web application that brings its own
     * Netty: it ends a second after its last work. In a container that is waited for, because a web application that leaves a
     * thread behind looks like a leak there.
     */
    static void shutdown(RedissonClient client) {
        client.shutdown(0, SHUTDOWN_SECONDS, TimeUnit.SECONDS);
        if (RedisClients.class.getClassLoader() != ClassLoader.getSystemClassLoader()
                && GlobalEventExecutor.class.getClassLoader() == RedisClients.class.getClassLoader()) {
            try {
                GlobalEventExecutor.INSTANCE.awaitInactivity(SHUTDOWN_SECONDS, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (IllegalStateException neverStarted) {
                LOG.debug("nothing to wait for", neverStarted);
            }
        }
    }

    /** An address fit for a message: nothing of what stands before the host, whatever it is. */
    static String withoutPassword(String address) {
        int host = address.lastIndexOf('@');
        int scheme = address.indexOf("://");
        return host < 0
                ? address
                : (scheme < 0 ? "" : address.substring(0, scheme + 3)) + "***" + address.substring(host);
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
        servers.setPingConnectionInterval(PING_MILLIS);
        servers.setReconnectionDelay(new ConstantDelay(RECONNECT_PAUSE));
    }

    private static Config config(Login login) {
        Config config = new Config()
                .setThreads(THREADS)
                .setNettyThreads(THREADS)
                .setCodec(StringCodec.INSTANCE)
                .setUseThreadClassLoader(false);
        login.into(config);
        return config;
    }
}
