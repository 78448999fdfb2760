package io.limiter.example.fair;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.springframework.util.FileSystemUtils;
import redis.embedded.RedisServer;

/** A redis-server of this application, which keeps nothing on disk. */
public final class OwnRedis implements AutoCloseable {
    private final RedisServer server;
    private final Path folder;
    private final int port;

    private OwnRedis(RedisServer server, Path folder, int port) {
        this.server = server;
        this.folder = folder;
        this.port = port;
    }

    /** Starts one, without data. */
    public static OwnRedis start(int port) {
        try {
            Path folder = Files.createTempDirectory("fair-redis");
            RedisServer server = RedisServer.newRedisServer()
                    .port(port)
                    .setting("bind 127.0.0.1")
                    .setting("save \"\"")
                    .setting("dir " + folder)
                    .build();
            server.start();
            return new OwnRedis(server, folder, port);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A port on which nothing listens. */
    public static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The address, as {@code redis://host:port}. */
    public String address() {
        return "redis://127.0.0.1:" + port;
    }

    @Override
    public void close() {
        try {
            server.stop();
            FileSystemUtils.deleteRecursively(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
