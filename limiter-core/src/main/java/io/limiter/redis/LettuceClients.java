package io.limiter.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.ClientOptions.DisconnectedBehavior;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions.KeepAliveOptions;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledExecutorService;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A Redis behind Lettuce. Its client is always ours, because whether commands are sent twice is an option of the client; of a given one it
 * has the addresses, logins, TLS and threads.
 *
 * @param name the name of this Redis in messages
 * @param addresses those of {@link LettuceTransport}
 * @param options those of the given client, or the default
 * @param threads those of the given client; null for a few of its own
 */
record LettuceClients(
        String name,
        List<RedisURI> addresses,
        boolean cluster,
        ClientOptions options,
        @Nullable ClientResources threads)
        implements RedisClients {
    private static final int THREADS = 2;
    private static final Pattern HOST = Pattern.compile("(?<=[@/])[\\w.-]+(?=:\\d+(/\\d*)?$)");

    /** A connection that the network drops silently while nobody asks is detected as dead within ten seconds. */
    private static final KeepAliveOptions KEEP_ALIVE = KeepAliveOptions.builder()
            .enable()
            .idle(Duration.ofSeconds(4))
            .interval(Duration.ofSeconds(2))
            .count(2)
            .build();

    /** On what a client of the application has. */
    static RedisClients given(
            boolean isCluster, ClientOptions options, @Nullable ClientResources threads, List<RedisURI> addresses) {
        if (addresses.isEmpty()) {
            throw new IllegalArgumentException(
                    "RL-116 a client of Lettuce does not expose its address; write"
                            + " lettuce(client, RedisURI.create(\"redis://127.0.0.1:6379\")), with the addresses and the login it was made with");
        }
        if (!isCluster && addresses.size() > 1) {
            throw new IllegalArgumentException(
                    "RL-116 a RedisClient has one address, and here are several; write"
                            + " lettuce(RedisClusterClient.create(List.of(addresses)), addresses) if they are nodes of a cluster");
        }
        String name = LettuceTransport.name(addresses.get(0));
        return new LettuceClients(name, List.copyOf(addresses), isCluster, options, threads);
    }

    /** A small client of ours to the addresses. */
    static RedisClients of(RedisAddresses servers) {
        List<RedisURI> uris;
        try {
            uris = servers.addresses().stream().map(LettuceClients::uri).toList();
        } catch (IllegalArgumentException wrong) {
            // Its message would show a password.
            throw new IllegalArgumentException("not an address that Lettuce can use: " + servers.name());
        }
        if (servers.kind() == RedisAddresses.Kind.SENTINEL) {
            RedisURI master = RedisURI.builder(uris.get(0)).build();
            master.setSentinelMasterId(servers.master());
            master.getSentinels().addAll(uris);
            uris = List.of(master);
        }
        String password = servers.password();
        if (password != null) {
            RedisCredentialsProvider login = new StaticCredentialsProvider(servers.username(), password.toCharArray());
            uris.forEach(uri -> uri.setCredentialsProvider(login));
        }
        boolean isCluster = servers.kind() == RedisAddresses.Kind.CLUSTER;
        return new LettuceClients(servers.name(), uris, isCluster, ClientOptions.create(), null);
    }

    /** Of an address whose host may be no word of a URI: {@code my_redis} of a container. */
    private static RedisURI uri(String address) {
        Matcher host = HOST.matcher(address);
        RedisURI uri = RedisURI.create(host.replaceFirst("host"));
        if (host.reset().find()) {
            uri.setHost(host.group());
        }
        return uri;
    }

    @Override
    public boolean isTls() {
        return addresses.get(0).isSsl();
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
                        .keepAlive(KEEP_ALIVE)
                        .connectTimeout(Duration.ofMillis((long) factor * CONNECT_TIMEOUT_MILLIS))
                        .build())
                .build());
        List<RedisURI> uris = addresses.stream().map(LettuceClients::copy).toList();
        uris.forEach(uri -> uri.setTimeout(Duration.ofMillis((long) factor * TIMEOUT_MILLIS)));
        return new LettuceTransport(client, threads == null ? resources : null, uris, cluster, timer);
    }

    /** A builder takes no sentinels from an address, and needs a host or sentinels. */
    static RedisURI copy(RedisURI uri) {
        RedisURI.Builder builder = RedisURI.builder(uri);
        uri.getSentinels().forEach(builder::withSentinel);
        RedisURI copy = builder.build();
        copy.setSentinelMasterId(uri.getSentinelMasterId());
        return copy;
    }
}
