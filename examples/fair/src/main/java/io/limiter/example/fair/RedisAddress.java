package io.limiter.example.fair;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;
import org.springframework.util.FileSystemUtils;
import redis.embedded.RedisServer;

/** Where Redis is: the property {@code redis} (variable {@code REDIS}), or else a redis-server that this application starts and stops. */
@Component
public final class RedisAddress implements DisposableBean {
    private static final Logger LOG = LoggerFactory.getLogger(RedisAddress.class);

    private final String address;
    private final @Nullable RedisServer own;
    private final @Nullable Path folder;

    RedisAddress(Environment environment) throws IOException {
        String given = environment.getProperty("redis", "");
        if (!given.isEmpty()) {
            address = given;
            own = null;
            folder = null;
        } else {
            int port = freePort();
            address = "redis://127.0.0.1:" + port;
            folder = Files.createTempDirectory("fair-redis");
            own = RedisServer.newRedisServer()
                    .port(port)
                    .setting("bind 127.0.0.1")
                    .setting("save \"\"")
                    .setting("dir " + folder)
                    .build();
            own.start();
            LOG.info("a redis-server of this application is on {}", address);
        }
    }

    /** The address, as {@code redis://host:port}. */
    public String address() {
        return address;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void destroy() {
        try {
            if (own != null) {
                own.stop();
            }
            if (folder != null) {
                FileSystemUtils.deleteRecursively(folder);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
