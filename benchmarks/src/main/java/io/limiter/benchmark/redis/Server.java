package io.limiter.benchmark.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.sync.RedisCommands;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.core.RedisServerBuilder;

/**
 * A separate redis-server, or a cluster of them, and its own figures. By default the one of embedded-redis, or another: {@code
 * -Dlimiter.redis.executable=/usr/bin/redis-server}.
 */
public final class Server implements AutoCloseable {
    private static final Pattern NUMBER = Pattern.compile(
            "^(used_cpu_user|used_cpu_sys|total_commands_processed|used_memory|mem_clients_normal):([0-9.]+)",
            Pattern.MULTILINE);
    private static final Pattern CALLS = Pattern.compile("^cmdstat_eval(?:sha)?:calls=([0-9]+)", Pattern.MULTILINE);

    /**
     * Its usage so far.
     *
     * @param commands those inside scripts too
     * @param calls scripts that were sent
     * @param memory bytes in use now, without those of its clients' connections
     */
    public record Usage(double cpuMicros, double commands, double calls, double memory) {}

    private static final int SLOTS = 16_384;
    /** The port of a node's talk with others is that much higher. */
    private static final int HIGHEST_PORT = 65_535 - 10_000;

    private final List<RedisServer> servers = new ArrayList<>();
    private final List<RedisClient> clients = new ArrayList<>();
    private final List<RedisCommands<String, String>> nodes = new ArrayList<>();
    private final List<Integer> ports = new ArrayList<>();
    private final Path folder;

    /** Starts one, on a free port. */
    public Server() throws IOException {
        this(1);
    }

    /** Starts one, or a cluster of several masters. */
    Server(int masters) throws IOException {
        folder = Files.createTempDirectory("limiter-load");
        for (int i = 0; i < masters; i++) {
            start(masters > 1);
        }
        if (masters > 1) {
            join();
        }
    }

    private void start(boolean inCluster) throws IOException {
        String other = System.getProperty("limiter.redis.executable");
        int port = freePort();
        RedisServerBuilder builder = RedisServer.newRedisServer()
                .executableProvider(other == null ? ExecutableProvider.newJarResourceProvider() : () -> new File(other))
                .port(port)
                .setting("bind 127.0.0.1")
                .setting("save \"\"")
                .setting("dir " + folder);
        if (inCluster) {
            builder.setting("cluster-enabled yes").setting("cluster-config-file nodes-" + port + ".conf");
        }
        RedisServer server = builder.build();
        server.start();
        servers.add(server);
        ports.add(port);
        RedisClient client = RedisClient.create("redis://127.0.0.1:" + port);
        clients.add(client);
        nodes.add(client.connect().sync());
    }

    private static int freePort() throws IOException {
        while (true) {
            try (ServerSocket free = new ServerSocket(0)) {
                if (free.getLocalPort() < HIGHEST_PORT) {
                    return free.getLocalPort();
                }
            }
        }
    }

    /** Gives each an equal share of the slots, and waits until each knows that all are served. */
    private void join() {
        int count = nodes.size();
        for (int i = 0; i < count; i++) {
            nodes.get(i)
                    .clusterAddSlots(IntStream.range(SLOTS * i / count, SLOTS * (i + 1) / count)
                            .toArray());
            nodes.get(i).clusterMeet("127.0.0.1", ports.get(0));
        }
        while (!nodes.stream()
                .allMatch(node -> node.clusterInfo().contains("cluster_state:ok")
                        && node.clusterInfo().contains("cluster_known_nodes:" + count))) {
            LockSupport.parkNanos(50_000_000);
        }
    }

    /** Its address, such as {@code redis://127.0.0.1:6379}; of a cluster those of all masters, with commas between. */
    public String address() {
        return ports.stream().map(port -> "redis://127.0.0.1:" + port).collect(Collectors.joining(","));
    }

    /** The port of the only or first one. */
    public int port() {
        return ports.get(0);
    }

    /** How many keys it has. */
    public long keys() {
        return nodes.stream().mapToLong(RedisCommands::dbsize).sum();
    }

    /** Loads a script. */
    String load(String script) {
        return nodes.stream().map(node -> node.scriptLoad(script)).reduce("", (one, next) -> next);
    }

    /** Deletes all keys. */
    public void empty() {
        nodes.forEach(RedisCommands::flushall);
    }

    /** Its usage until now. */
    public Usage usage() {
        String info = nodes.stream().map(node -> node.info("all")).collect(Collectors.joining("\n"));
        double cpu = 0;
        double commands = 0;
        double memory = 0;
        for (Matcher found = NUMBER.matcher(info); found.find(); ) {
            double number = Double.parseDouble(found.group(2));
            if (found.group(1).startsWith("used_cpu")) {
                cpu += number * 1e6;
            } else if (found.group(1).equals("used_memory")) {
                memory += number;
            } else if (found.group(1).equals("mem_clients_normal")) {
                memory -= number;
            } else {
                commands += number;
            }
        }
        double calls = 0;
        for (Matcher found = CALLS.matcher(info); found.find(); ) {
            calls += Double.parseDouble(found.group(1));
        }
        return new Usage(cpu, commands, calls, memory);
    }

    @Override
    public void close() throws IOException {
        for (RedisClient client : clients) {
            client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        }
        for (RedisServer server : servers) {
            server.stop();
        }
        for (int port : ports) {
            Files.deleteIfExists(folder.resolve("nodes-" + port + ".conf"));
        }
        Files.deleteIfExists(folder);
    }
}
