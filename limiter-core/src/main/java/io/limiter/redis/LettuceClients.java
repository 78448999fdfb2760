package io.limiter.redis;

import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import org.jspecify.annotations.Nullable;

/**
 * A Redis behind Lettuce. Its client is always ours, because whether commands are sent twice is an option of the client; of a given one it
 * has the addresses, logins, TLS and threads.
 *
 * @param name the name of this Redis in messages
 * @param addresses those of {@link LettuceTransport}
 * @param options those of the given client, or the default
 * @param threads those of the given client; null for a few of its own
 * @param takesLogin whether user and password can be set
 */
record LettuceClients(
        String name,
        List<RedisURI> addresses,
        boolean cluster,
        ClientOptions options,
        @Nullable ClientResources threads,
        boolean takesLogin)
        implements RedisClients {
    private static final int THREADS = 2;

    /** On what a client of the application has. */
    static RedisClients given(AbstractRedisClient client, List<RedisURI> addresses) {
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException(
                    "RL-116 a client of Lettuce does not tell its address; write"
                            + " lettuce(client, RedisURI.create(\"redis://127.0.0.1:6379\")), with the addresses and the login it was made with");
        }
        return new LettuceClients(
                "Redis",
                List.copyOf(addresses),
                client instanceof RedisClusterClient,
                client.getOptions(),
                client.getResources(),
                false);
    }

    /** A small client of ours to the addresses. */
    static RedisClients of(RedisAddresses servers) {
        List<RedisURI> uris;
        try {
            uris = servers.addresses().stream().map(RedisURI::create).toList();
        } catch (IllegalArgumentException wrong) {
            // Its message would show a password.
            throw new IllegalArgumentException("not an address that Lettuce can use: " + servers.name());
        }
        boolean isCluster = servers.kind() == RedisAddresses.Kind.CLUSTER;
        if (servers.kind() == RedisAddresses.Kind.SENTINEL) {
            RedisURI master = RedisURI.builder(uris.get(0)).build();
            master.setSentinelMasterId(servers.master());
            master.getSentinels().addAll(uris);
            uris = List.of(master);
        }
        return new LettuceClients(servers.name(), uris, isCluster, ClientOptions.create(), null, true);
    }

    @Override
    public boolean isTls() {
        return addresses.get(0).isSsl();
    }

    @Override
    public RedisClients withLogin(@Nullable String username, String password) {
        if (!takesLogin) {
            throw RedisClients.hasLogin();
        }
        List<RedisURI> uris = addresses.stream().map(LettuceClients::copy).toList();
        uris.forEach(
                uri -> uri.setCredentialsProvider(new StaticCredentialsProvider(username, password.toCharArray())));
        return new LettuceClients(name, uris, cluster, options, threads, false);
    }

    @Override
    public Transport make(ScheduledExecutorService timer, int attempt) {
        int factor = RedisClients.factor(attempt);
        ClientResources resources = threads != null
                ? threads
                : ClientResources.builder()
                        .ioThreadPoolSize(THREADS)
                        .computationThreadPoolSize(THREADS)
                        .commandLatencyRecorder(CommandLatencyRecorder.disabled())
                        .build();
        RedisClient client = RedisClient.create(resources);
        // Nothing is sent again, waits for a reconnection, or is refused or given up by Lettuce while a caller waits.
        client.setOptions(options.mutate()
                .autoReconnect(false)
                .disconnectedBehavior(DisconnectedBehavior.REJECT_COMMANDS)
                .requestQueueSize(Integer.MAX_VALUE)
                .useHashIndexQueue(false)
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
                .socketOptions(options.getSocketOptions()
                        .mutate()
                        .tcpNoDelay(true)
                        .connectTimeout(Duration.ofMillis((long) factor * CONNECT_TIMEOUT_MILLIS))
                        .build())
                .build());
        List<RedisURI> uris = addresses.stream().map(LettuceClients::copy).toList();
        uris.forEach(uri -> uri.setTimeout(Duration.ofMillis((long) factor * TIMEOUT_MILLIS)));
        return new LettuceTransport(client, threads == null ? resources : null, uris, cluster, timer);
    }

    /** With the sentinels, which a builder leaves. */
    private static RedisURI copy(RedisURI uri) {
        RedisURI copy = RedisURI.builder(uri).build();
        copy.setSentinelMasterId(uri.getSentinelMasterId());
        copy.getSentinels().addAll(uri.getSentinels());
        return copy;
    }
}
