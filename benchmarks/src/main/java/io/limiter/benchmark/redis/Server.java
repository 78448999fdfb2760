package io.limiter.benchmark.redis;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;

/**
 * A separate redis-server, and its own figures. By default the one of embedded-redis, or another: {@code
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

    private final RedisServer server;
    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final String address;
    private final Path folder;
    private final int port;

    /** Starts it, on a free port. */
    public Server() throws IOException {
        String other = System.getProperty("limiter.redis.executable");
        folder = Files.createTempDirectory("limiter-load");
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        server = RedisServer.newRedisServer()
                .executableProvider(other == null ? ExecutableProvider.newJarResourceProvider() : () -> new File(other))
                .port(port)
                .setting("bind 127.0.0.1")
                .setting("save \"\"")
                .setting("dir " + folder)
                .build();
        server.start();
        address = "redis://127.0.0.1:" + port;
        client = RedisClient.create(address);
        connection = client.connect();
    }

    /** Its address, such as {@code redis://127.0.0.1:6379}. */
    public String address() {
        return address;
    }

    /** Its port. */
    public int port() {
        return port;
    }

    /** How many keys it has. */
    public long keys() {
        return connection.sync().dbsize();
    }

    /** Loads a script. */
    String load(String script) {
        return connection.sync().scriptLoad(script);
    }

    /** Deletes all keys. */
    public void empty() {
        connection.sync().flushall();
    }

    /** Its usage until now. */
    public Usage usage() {
        String info = connection.sync().info("all");
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
                commands = number;
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
        connection.close();
        client.shutdown(Duration.ZERO, Duration.ofSeconds(1));
        server.stop();
        Files.deleteIfExists(folder);
    }
}
