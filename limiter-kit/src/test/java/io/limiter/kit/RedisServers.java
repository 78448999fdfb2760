package io.limiter.kit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.stream.Stream;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Protocol;
import redis.clients.jedis.Tuple;
import redis.embedded.RedisInstance;
import redis.embedded.RedisSentinel;
import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.core.RedisSentinelBuilder;
import redis.embedded.core.RedisServerBuilder;

/** Real Redis servers for tests, started when first asked for and stopped with the JVM. Each has a folder of its own. */
public final class RedisServers {
    /** The name of the master that the sentinel watches. */
    public static final String MASTER = "mymaster";

    private static final String BIND = "bind ";
    private static final int SLOTS = 16_384;
    private static final int MASTERS = 3;
    private static final int STARTS = 5;

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

    /** Those of the servers on these ports. */
    public static List<String> addresses(List<Integer> ports) {
        return ports.stream().map(port -> "redis://127.0.0.1:" + port).toList();
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

    /** One that speaks nothing but TLS on the port, with the certificate and the key of the file. */
    public static RedisServer startTls(int port, Path pem, String... settings) {
        List<String> all = new ArrayList<>(List.of(settings));
        all.addAll(List.of("tls-port " + port, "tls-auth-clients no"));
        List.of("cert", "key", "ca-cert").forEach(one -> all.add("tls-" + one + "-file " + pem));
        return startAnywhere(all.toArray(String[]::new));
    }

    /** The same, of the second version. */
    public static RedisServer startNewer(int port, String... settings) {
        return start(Newer::unpacked, port, settings);
    }

    /** A server of a version that the limiter was not built for. */
    public static RedisServer startOld(int port) {
        return start(() -> executable("../limiter-kit/target/redis-old/redis-server-2.8.19"), port);
    }

    /** A server of a test's own, on a port of its own: that of {@link RedisServer#ports}. */
    public static RedisServer startAnywhere(String... settings) {
        return startAnywhere(executable(), settings);
    }

    private static RedisServer startAnywhere(ExecutableProvider executable, String... settings) {
        return onFreePort(port -> startOn(executable, port, settings));
    }

    /** The address where no server ever is, so that attempts to connect are refused at once. */
    public static String nobody() {
        return "redis://127.0.0.1:1";
    }

    /** The redis-server that the build brings, or another one: {@code -Dlimiter.redis.executable=/usr/bin/valkey-server}. */
    private static ExecutableProvider executable() {
        String other = System.getProperty("limiter.redis.executable");
        return other == null ? () -> Unpacked.FILE : () -> new File(other);
    }

    /** Once a JVM. */
    private static final class Unpacked {
        static final File FILE = unpack();

        private static File unpack() {
            try {
                return ExecutableProvider.newJarResourceProvider(newFolder().toFile())
                        .get();
            } catch (IOException e) {
                throw new UncheckedIOException("the redis-server of the build could not be unpacked", e);
            }
        }
    }

    private static RedisServer start(ExecutableProvider executable, int port, String... settings) {
        try {
            return startOn(executable, port, settings);
        } catch (IOException e) {
            throw new UncheckedIOException("a redis-server did not start on port " + port, e);
        }
    }

    private static RedisServer startOn(ExecutableProvider executable, int port, String... settings) throws IOException {
        RedisServerBuilder builder = RedisServer.newRedisServer()
                .executableProvider(executable)
                .port(port)
                .bind(host(settings))
                .setting("save \"\"")
                .setting("dir " + newFolder());
        for (String setting : settings) {
            if (!setting.startsWith(BIND)) {
                builder.setting(setting);
            }
        }
        return started(builder::build);
    }

    /** That of a setting {@code bind}, or the usual one. */
    private static String host(String... settings) {
        return Arrays.stream(settings)
                .filter(setting -> setting.startsWith(BIND))
                .map(setting -> setting.substring(BIND.length()))
                .findFirst()
                .orElse("127.0.0.1");
    }

    private interface Making<T> {
        T make() throws IOException;
    }

    private interface Starting<T> {
        T startOn(int port) throws IOException;
    }

    /** Again on another port, if somebody took this one after it was found to be free. */
    private static <T> T onFreePort(Starting<T> starting) {
        IOException last = null;
        for (int i = 0; i < STARTS; i++) {
            int port = freePort();
            try {
                return starting.startOn(port);
            } catch (IOException e) {
                last = e;
                if (!isCausedBy(e, "Address already in use")) {
                    break;
                }
            }
        }
        throw new UncheckedIOException("no redis-server has started", last);
    }

    /** Again, if a process that began elsewhere in this JVM still had the executable open, which had just been written. */
    private static <T extends RedisInstance> T started(Making<T> making) throws IOException {
        for (int i = 1; ; i++) {
            T server = making.make();
            try {
                server.start();
                Ending.SERVERS.add(server);
                return server;
            } catch (IOException e) {
                if (i == STARTS || !isCausedBy(e, "Text file busy")) {
                    throw e;
                }
            }
        }
    }

    private static boolean isCausedBy(Throwable failure, String text) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (String.valueOf(cause.getMessage()).contains(text)) {
                return true;
            }
        }
        return false;
    }

    /** Stops a server that may have gone already. */
    public static void stop(RedisInstance server) {
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

    /** A plain client. Its default would be two seconds for an answer, which is short on a busy machine. */
    public static Jedis jedis(int port) {
        return jedis("redis://127.0.0.1:" + port);
    }

    /** One of the server that all tests share. */
    public static Jedis jedis() {
        return jedis(singlePort());
    }

    /** The same, with the login of the address. */
    public static Jedis jedis(String address) {
        return new Jedis(URI.create(address), 60_000);
    }

    /** The process of the server on the port. */
    public static long pid(int port) {
        try (Jedis redis = jedis(port)) {
            return Long.parseLong(redis.info("server").replaceAll("(?s).*process_id:(\\d+).*", "$1"));
        }
    }

    /** For how long permits in flight of a prefix are held if nobody renews them: the longest, to a second, by the single server's time. */
    public static Duration heldFor(String prefix) {
        try (Jedis redis = jedis(singlePort())) {
            double latest = redis.keys(prefix + ":*").stream()
                    .filter(key -> redis.type(key).equals("zset"))
                    .flatMap(key -> redis.zrangeWithScores(key, -1, -1).stream())
                    .mapToDouble(Tuple::getScore)
                    .max()
                    .orElse(0);
            return Duration.ofSeconds(
                    (long) latest / 1_000_000 - Long.parseLong(redis.time().get(0)));
        }
    }

    /** A port that nobody listens on, which no other call gets, in no JVM. */
    public static int freePort() {
        return Ports.next();
    }

    private static File executable(String unpacked) throws IOException {
        Path file = Path.of(unpacked);
        if (!Files.exists(file)) {
            throw new IOException(file.toAbsolutePath() + " is missing; run mvn generate-test-resources");
        }
        file.toFile().setExecutable(true);
        return file.toAbsolutePath().toFile();
    }

    /** Deleted at the end with all that is in it then: a node of a cluster writes down the others. */
    private static Path newFolder() throws IOException {
        Path folder = Files.createTempDirectory("limiter-redis");
        Ending.FOLDERS.add(folder);
        return folder;
    }

    /** What is done when the JVM ends: servers first, since they write into their folders. */
    private static final class Ending {
        static final Queue<Path> FOLDERS = new ConcurrentLinkedQueue<>();
        static final Queue<RedisInstance> SERVERS = new ConcurrentLinkedQueue<>();

        static {
            Runtime.getRuntime().addShutdownHook(new Thread(Ending::end));
        }

        private static void end() {
            List<Thread> stopping = SERVERS.stream()
                    .map(server -> new Thread(() -> stop(server)))
                    .toList();
            stopping.forEach(Thread::start);
            try {
                for (Thread one : stopping) {
                    one.join();
                }
            } catch (InterruptedException e) {
                throw new AssertionError("interrupted", e);
            }
            FOLDERS.forEach(Ending::delete);
        }

        private static void delete(Path folder) {
            try (Stream<Path> files = Files.walk(folder)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            } catch (IOException | UncheckedIOException e) {
                // It is in the temporary folder: the next one is worth more than a report of this one.
            }
        }
    }

    private static final class Single {
        static final int PORT = startAnywhere().ports().get(0);
    }

    private static final class Newer {
        static final int PORT = startAnywhere(Newer::unpacked).ports().get(0);

        /** The build unpacks it beside the classes of the kit. */
        private static File unpacked() throws IOException {
            String os =
                    System.getProperty("os.name", "").toLowerCase(Locale.ROOT).startsWith("mac") ? "darwin" : "linux";
            String processor = System.getProperty("os.arch", "").equals("aarch64") ? "arm64" : "amd64";
            return executable("../limiter-kit/target/redis-newer/redis-server-7.0.15-" + os + "-" + processor);
        }
    }

    private static final class Sentinel {
        static final int MASTER_PORT = startAnywhere().ports().get(0);
        static final int PORT;

        static {
            startAnywhere("replicaof 127.0.0.1 " + MASTER_PORT);
            PORT = startSentinel(MASTER_PORT);
        }
    }

    /** Starts a sentinel that watches the master; returns its port. */
    public static int startSentinel(int master) {
        RedisSentinelBuilder builder = RedisSentinel.newRedisSentinel()
                .executableProvider(executable())
                .masterName(MASTER)
                .masterPort(master)
                .quorumSize(1)
                .bind("127.0.0.1");
        RedisSentinel sentinel = onFreePort(port -> started(builder.port(port)::build));
        return sentinel.ports().get(0);
    }

    /** From now on it promotes soon. Not from the beginning: a busy machine keeps a master from its pings. */
    public static void promoteSoon(Jedis sentinel) {
        sentinel.sentinelSet(MASTER, Map.of("down-after-milliseconds", "500", "failover-timeout", "2000"));
    }

    private static final class Cluster {
        static final List<Integer> PORTS = startCluster();
    }

    /** Starts a cluster of three masters; returns their ports. */
    public static List<Integer> startCluster() {
        // Long, because a busy machine keeps a node from its pings, and a test may stop one.
        return startCluster(60_000);
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
            try (Jedis node = jedis(ports.get(i))) {
                int from = SLOTS * i / MASTERS;
                int[] slots = new int[SLOTS * (i + 1) / MASTERS - from];
                for (int s = 0; s < slots.length; s++) {
                    slots[s] = from + s;
                }
                node.clusterAddSlots(slots);
                // Else they get different ones by and by, and one that has given a slot away takes it back with a
                // higher one.
                node.sendCommand(Protocol.Command.CLUSTER, "SET-CONFIG-EPOCH", Integer.toString(i + 1));
                node.clusterMeet("127.0.0.1", ports.get(0));
            }
        }
        ports.forEach(port -> awaitFormed(port, MASTERS));
    }

    /** Adds a replica of the first of these masters; returns its port. */
    public static int startClusterReplica(List<Integer> masters, int timeoutMillis) {
        int port = startNode(timeoutMillis);
        try (Jedis node = jedis(port);
                Jedis master = jedis(masters.get(0))) {
            node.clusterMeet("127.0.0.1", masters.get(0));
            masters.forEach(each -> awaitFormed(each, masters.size() + 1));
            awaitFormed(port, masters.size() + 1);
            node.clusterReplicate(master.clusterMyId());
        }
        awaitReplicating(port);
        // Masters vote for no other node.
        masters.forEach(each -> await(
                "the node knows the replica",
                each,
                node -> node.clusterNodes()
                        .lines()
                        .anyMatch(line -> line.contains(":" + port + "@") && line.contains("slave"))));
        return port;
    }

    /** Returns when the replica has its master's data. */
    public static void awaitReplicating(int port) {
        await(
                "the replica has its master's data",
                port,
                node -> node.info("replication").contains("master_link_status:up"));
    }

    private static int startNode(int timeoutMillis) {
        return startAnywhere(
                        "cluster-enabled yes",
                        "cluster-config-file nodes.conf",
                        "cluster-node-timeout " + timeoutMillis)
                .ports()
                .get(0);
    }

    private static void awaitFormed(int port, int nodes) {
        await("the cluster is formed", port, node -> {
            String info = node.clusterInfo();
            return info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:" + nodes);
        });
    }

    private static void await(String what, int port, Predicate<Jedis> isSo) {
        try (Jedis node = jedis(port)) {
            Await.until(what, () -> isSo.test(node));
        }
    }
}
