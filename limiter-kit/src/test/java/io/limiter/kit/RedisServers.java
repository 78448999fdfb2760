package io.limiter.kit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisSentinel;
import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.core.RedisServerBuilder;

/** Real Redis servers for tests, started when first asked for and stopped with the JVM. Each has a folder of its own. */
public final class RedisServers {
    /** The name of the master that the sentinel watches. */
    public static final String MASTER = "mymaster";

    private static final int SLOTS = 16_384;
    private static final int MASTERS = 3;
    private static final Duration FORMED = Duration.ofSeconds(60);
    /** The ports given out, which no other call in this JVM gets. */
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private RedisServers() {}

    /** One server, shared by all tests of this JVM. */
    public static int singlePort() {
        return Single.PORT;
    }

    /** The address of {@link #singlePort}. */
    public static String single() {
        return "redis://127.0.0.1:" + singlePort();
    }

    /** The addresses of a cluster of three masters, shared by all tests of this JVM. */
    public static List<String> cluster() {
        return clusterPorts().stream().map(port -> "redis://127.0.0.1:" + port).toList();
    }

    /** The ports of that cluster's masters. */
    public static List<Integer> clusterPorts() {
        return Cluster.PORTS;
    }

    /** A second version of Redis: one server, shared by all tests of this JVM. */
    public static String newer() {
        return "redis://127.0.0.1:" + Newer.PORT;
    }

    /** The address of a sentinel, shared by all tests of this JVM; it watches {@value #MASTER}. */
    public static String sentinel() {
        return "redis://127.0.0.1:" + Sentinel.PORT;
    }

    /** The port of the master that it watches. */
    public static int sentinelMasterPort() {
        return Sentinel.MASTER_PORT;
    }

    /** A server of a test's own, to be stopped, paused or killed. */
    public static RedisServer start(int port, String... settings) {
        return start(executable(), port, settings);
    }

    /** The same, of the second version. */
    public static RedisServer startNewer(int port, String... settings) {
        return start(Newer::unpacked, port, settings);
    }

    /** A server of a version that the limiter was not built for. */
    public static RedisServer startOld(int port) {
        return start(() -> executable("target/redis-old/redis-server-2.8.19"), port);
    }

    /** The redis-server that the build brings, or another one: {@code -Dlimiter.redis.executable=/usr/bin/valkey-server}. */
    private static ExecutableProvider executable() {
        String other = System.getProperty("limiter.redis.executable");
        return other == null ? ExecutableProvider.newJarResourceProvider() : () -> new File(other);
    }

    /** One at a time: a process that begins while the executable of another is written would keep that one from running. */
    private static synchronized RedisServer start(ExecutableProvider executable, int port, String... settings) {
        try {
            Path folder = Files.createTempDirectory("limiter-redis");
            RedisServerBuilder builder = RedisServer.newRedisServer()
                    .executableProvider(executable)
                    .port(port)
                    .setting("bind 127.0.0.1")
                    .setting("save \"\"")
                    .setting("dir " + folder);
            for (String setting : settings) {
                builder.setting(setting);
            }
            RedisServer server = builder.build();
            server.start();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                stop(server);
                delete(folder);
            }));
            return server;
        } catch (IOException e) {
            throw new UncheckedIOException("a redis-server did not start on port " + port, e);
        }
    }

    /** Stops a server that may have gone already. */
    public static void stop(RedisServer server) {
        try {
            server.stop();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends a signal, STOP say, to the server on the port. */
    public static void signal(String name, long pid) {
        try {
            int status = new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                    .inheritIO()
                    .start()
                    .waitFor();
            if (status != 0) {
                throw new AssertionError("kill -" + name + " " + pid + " ended with status " + status);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError("interrupted", e);
        }
    }

    /** The process of the server on the port. */
    public static long pid(int port) {
        try (Jedis redis = new Jedis("127.0.0.1", port)) {
            return Long.parseLong(redis.info("server").replaceAll("(?s).*process_id:(\\d+).*", "$1"));
        }
    }

    /**
     * A port that nobody listens on. It and the port + 10 000, the bus of a cluster, are below those that systems give to
     * outgoing connections: of such a port another process could make use before the server binds it.
     */
    public static int freePort() {
        while (true) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 20_000);
            if (isFree(port) && isFree(port + 10_000) && GIVEN.add(port)) {
                return port;
            }
        }
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port)) {
            return socket.isBound();
        } catch (IOException e) {
            return false;
        }
    }

    private static File executable(String unpacked) throws IOException {
        Path file = Path.of(unpacked);
        if (!Files.exists(file)) {
            throw new IOException(file.toAbsolutePath() + " is missing; run mvn generate-test-resources");
        }
        file.toFile().setExecutable(true);
        return file.toAbsolutePath().toFile();
    }

    /** With what the server has left in it: a node of a cluster writes down the others. */
    private static void delete(Path folder) {
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
            Files.delete(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static final class Single {
        static final int PORT = freePort();

        static {
            start(PORT);
        }
    }

    private static final class Newer {
        static final int PORT = freePort();

        static {
            start(Newer::unpacked, PORT);
        }

        /** The build unpacks it beside the classes. */
        private static File unpacked() throws IOException {
            String os =
                    System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("mac") ? "darwin" : "linux";
            String processor = System.getProperty("os.arch", "").equals("aarch64") ? "arm64" : "amd64";
            return executable("target/redis-newer/redis-server-7.0.15-" + os + "-" + processor);
        }
    }

    private static final class Sentinel {
        static final int MASTER_PORT = freePort();
        static final int PORT;

        static {
            start(MASTER_PORT);
            start(freePort(), "replicaof 127.0.0.1 " + MASTER_PORT);
            PORT = startSentinel(MASTER_PORT);
        }
    }

    /** Starts a sentinel that watches the master; returns its port. */
    public static synchronized int startSentinel(int master) {
        int port = freePort();
        try {
            RedisSentinel sentinel = RedisSentinel.newRedisSentinel()
                    .executableProvider(RedisServers.executable())
                    .port(port)
                    .masterName(MASTER)
                    .masterPort(master)
                    .quorumSize(1)
                    .bind("127.0.0.1")
                    .build();
            sentinel.start();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    sentinel.stop();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }));
        } catch (IOException e) {
            throw new UncheckedIOException("a sentinel did not start on port " + port, e);
        }
        return port;
    }

    private static final class Cluster {
        static final List<Integer> PORTS = startCluster();
    }

    /** Starts a cluster of three masters; returns their ports. */
    public static List<Integer> startCluster() {
        return startCluster(5_000);
    }

    /** As {@link #startCluster()}, of nodes that consider each other dead after this number of milliseconds. */
    public static List<Integer> startCluster(int timeoutMillis) {
        List<Integer> ports = new ArrayList<>();
        for (int i = 0; i < MASTERS; i++) {
            ports.add(startNode(timeoutMillis));
        }
        form(ports);
        return ports;
    }

    /** Makes a cluster of three nodes that know nothing of each other. */
    public static void form(List<Integer> ports) {
        for (int i = 0; i < MASTERS; i++) {
            try (Jedis node = new Jedis("127.0.0.1", ports.get(i))) {
                int from = SLOTS * i / MASTERS;
                int[] slots = new int[SLOTS * (i + 1) / MASTERS - from];
                for (int s = 0; s < slots.length; s++) {
                    slots[s] = from + s;
                }
                node.clusterAddSlots(slots);
                node.clusterMeet("127.0.0.1", ports.get(0));
            }
        }
        ports.forEach(port -> awaitFormed(port, MASTERS));
    }

    /** Adds a replica of the first of these masters; returns its port. */
    public static int startClusterReplica(List<Integer> masters, int timeoutMillis) {
        int port = startNode(timeoutMillis);
        try (Jedis node = new Jedis("127.0.0.1", port);
                Jedis master = new Jedis("127.0.0.1", masters.get(0))) {
            node.clusterMeet("127.0.0.1", masters.get(0));
            masters.forEach(each -> awaitFormed(each, masters.size() + 1));
            awaitFormed(port, masters.size() + 1);
            node.clusterReplicate(master.clusterMyId());
        }
        awaitReplicating(port);
        return port;
    }

    /** Returns when the replica has its master's data. */
    public static void awaitReplicating(int port) {
        try (Jedis node = new Jedis("127.0.0.1", port)) {
            Await.until(
                    FORMED,
                    "the replica has its master's data",
                    () -> node.info("replication").contains("master_link_status:up"));
        }
    }

    private static int startNode(int timeoutMillis) {
        int port = freePort();
        start(port, "cluster-enabled yes", "cluster-config-file nodes.conf", "cluster-node-timeout " + timeoutMillis);
        return port;
    }

    private static void awaitFormed(int port, int nodes) {
        try (Jedis node = new Jedis("127.0.0.1", port)) {
            Await.until(FORMED, "the cluster is formed", () -> {
                String info = node.clusterInfo();
                return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + nodes);
            });
        }
    }
}
