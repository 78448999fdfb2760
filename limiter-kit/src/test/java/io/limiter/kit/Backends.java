package io.limiter.kit;

import io.limiter.inprocess.InProcessBackend;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** The one list of the backends that keep the contract. */
public final class Backends {
    private static final AtomicInteger OPENED = new AtomicInteger();

    private Backends() {}

    /** All of them. */
    public static List<TestedBackend> all() {
        return List.of(
                new TestedBackend(
                        "in-process",
                        time -> InProcessBackend.builder().timeSource(time).build()),
                new TestedBackend(
                        "redis-single",
                        time -> connected(redis().address(RedisServers.single()).timeSource(time))),
                new TestedBackend(
                        "redis-7",
                        time -> connected(redis().address(RedisServers.newer()).timeSource(time))),
                new TestedBackend(
                        "redis-sentinel",
                        time -> connected(redis().sentinel(RedisServers.MASTER, List.of(RedisServers.sentinel()))
                                .timeSource(time))),
                new TestedBackend(
                        "redis-cluster",
                        time -> connected(
                                redis().cluster(RedisServers.cluster()).timeSource(time))));
    }

    /** A Redis backend whose keys no other test has. */
    public static RedisBackend.Builder redis() {
        return RedisBackend.builder().prefix("test-" + OPENED.incrementAndGet()).deadline(Duration.ofSeconds(30));
    }

    /** Builds it and waits for its connection. */
    public static RedisBackend connected(RedisBackend.Builder builder) {
        RedisBackend backend = builder.build();
        if (!backend.awaitConnected(Duration.ofSeconds(60))) {
            throw new AssertionError("no connection to a test's Redis within 60 s");
        }
        return backend;
    }
}
