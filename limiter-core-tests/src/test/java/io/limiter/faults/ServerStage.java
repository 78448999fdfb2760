package io.limiter.faults;

import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import redis.embedded.RedisServer;

/** One server behind a wire. The limiter logs in as a user of its own. */
final class ServerStage implements Stage {
    static final String USER = "app";
    static final String PASSWORD = "secret";

    private final int port = RedisServers.freePort();
    private final Path folder;
    private final List<String> settings = new ArrayList<>();
    private final Wire wire = Wire.to(port);
    private final boolean throughWire;
    /** More properties of the limiter. */
    private String more = "";

    private RedisServer server;
    private Admin admin;
    private long pid;
    private CompletableFuture<?> running = CompletableFuture.completedFuture(null);

    private ServerStage(boolean throughWire, String... more) {
        this.throughWire = throughWire;
        try {
            folder = Files.createTempDirectory("limiter-faults");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        settings.addAll(List.of(more));
        settings.add("dir " + folder);
        settings.add("user " + USER + " on >" + PASSWORD + " ~* &* +@all");
        server = RedisServers.start(port, settings.toArray(String[]::new));
        admin = new Admin(port);
        pid = RedisServers.pid(port);
    }

    /** A server without persistence. */
    static ServerStage plain() {
        return new ServerStage(false);
    }

    /** The same, with another deadline of calls. */
    static ServerStage plain(String deadline) {
        ServerStage stage = plain();
        stage.more = "limiter.redis.deadline = " + deadline + "\n";
        return stage;
    }

    /**
     * A server that hands each call to the system's file cache before it answers it. With {@code everysec} it would put
     * that off while an earlier fsync runs, and what was put off dies with the process.
     */
    static ServerStage persistent() {
        return new ServerStage(false, "appendonly yes", "appendfsync no");
    }

    /** A server behind a wire, that appends to a file and forces that to disk as configured: {@code always}, {@code everysec}. */
    static ServerStage persistent(String fsync) {
        return new ServerStage(true, "appendonly yes", "appendfsync " + fsync);
    }

    /** A server without persistence, behind a wire. */
    static ServerStage wired() {
        return new ServerStage(true);
    }

    Admin admin() {
        return admin;
    }

    Wire wire() {
        return wire;
    }

    void signal(String name) {
        RedisServers.signal(name, pid);
    }

    /** Starts the server again, which was killed. */
    void restart() {
        admin.close();
        server = RedisServers.start(port, settings.toArray(String[]::new));
        admin = new Admin(port);
        pid = RedisServers.pid(port);
    }

    /** Sends a command that takes long. */
    void askMeanwhile(String... words) {
        running = CompletableFuture.runAsync(() -> admin.ask(words));
    }

    /** Returns when the server answers again. */
    void awaitAnswer() {
        running.join();
        admin.ask("PING");
    }

    @Override
    public String way() {
        return way(throughWire ? wire.port() : port) + more;
    }

    /** Not through the wire. */
    String directWay() {
        return way(port);
    }

    private static String way(int port) {
        return "limiter.redis.address = redis://127.0.0.1:" + port + "\nlimiter.redis.username = " + USER
                + "\nlimiter.redis.password = " + PASSWORD + "\n";
    }

    @Override
    public String auditorsWay() {
        return "limiter.redis.address = redis://127.0.0.1:" + port + "\n";
    }

    @Override
    public void close() throws IOException {
        admin.close();
        wire.close();
        // One that was left stopped would not end.
        if (ProcessHandle.of(pid).isPresent()) {
            signal("CONT");
        }
        RedisServers.stop(server);
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
