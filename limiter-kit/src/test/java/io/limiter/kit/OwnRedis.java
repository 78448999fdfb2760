package io.limiter.kit;

import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** A redis-server of a test's own, to be paused or killed. Closing it ends it in any case. */
public final class OwnRedis implements AutoCloseable {
    public final int port;
    private final RedisServer server;
    private long pid;
    private boolean isPaused;

    private OwnRedis(int port, String... settings) {
        this.port = port;
        server = RedisServers.start(port, settings);
    }

    public static OwnRedis start(String... settings) {
        return at(RedisServers.freePort(), settings);
    }

    public static OwnRedis at(int port, String... settings) {
        return new OwnRedis(port, settings);
    }

    public String address() {
        return "redis://127.0.0.1:" + port;
    }

    public Jedis jedis() {
        return RedisServers.jedis(port);
    }

    /** From now on it answers nothing, and its connections stay open. */
    public void pause() {
        pid = RedisServers.pid(port);
        RedisServers.signal("STOP", pid);
        isPaused = true;
    }

    public void resume() {
        RedisServers.signal("CONT", pid);
        isPaused = false;
    }

    public void kill() {
        RedisServers.signal("KILL", RedisServers.pid(port));
    }

    @Override
    public void close() {
        if (isPaused) {
            resume();
        }
        RedisServers.stop(server);
    }
}
