package io.limiter.example.server;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.ThreadLocalRandom;
import redis.embedded.RedisServer;

/** A Redis of one test, on a port that no outgoing connection of this machine takes. */
final class TestRedis implements AutoCloseable {
    private static final int TRIES = 20;

    private final RedisServer server;
    private final int port;

    private TestRedis(RedisServer server, int port) {
        this.server = server;
        this.port = port;
    }

    static TestRedis start(Path directory) throws IOException {
        IOException taken = new IOException("never tried");
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(10_000, 30_000);
            RedisServer server = RedisServer.newRedisServer()
                    .port(port)
                    .bind("127.0.0.1")
                    .setting("save \"\"")
                    .setting("dir " + directory)
                    .build();
            try {
                server.start();
                return new TestRedis(server, port);
            } catch (IOException e) {
                taken = e;
            }
        }
        throw taken;
    }

    int port() {
        return port;
    }

    @Override
    public void close() throws IOException {
        server.stop();
    }
}
