package io.limiter.kit;

import io.lettuce.core.RedisURI;
import io.limiter.Backend.Health;
import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The one list of the backends that keep the contract. */
public final class Backends {
    private static final AtomicInteger OPENED = new AtomicInteger();

    private static final TestedBackend IN_PROCESS = new TestedBackend(
            "in-process", time -> InProcessBackend.builder().timeSource(time).build());
    private static final TestedBackend SINGLE = onRedis("redis-single", SharedClients::single);
    private static final TestedBackend NEWER = onRedis("redis-7", SharedClients::newer);
    private static final TestedBackend SENTINEL = onRedis("redis-sentinel", SharedClients::sentinel);
    private static final TestedBackend CLUSTER = onRedis("redis-cluster", SharedClients::cluster);

    private static final TestedBackend LETTUCE =
            new TestedBackend("lettuce-single", time -> connected(lettuce().timeSource(time)));
    private static final TestedBackend LETTUCE_CLUSTER = new TestedBackend(
            "lettuce-cluster", time -> connected(lettuceCluster().timeSource(time)));

    private Backends() {}

    /** Those that differ: in this JVM, one Redis, and a cluster of them. With {@code -Dtests.many=true} all that there are. */
    public static List<TestedBackend> all() {
        return Repeats.MANY
                ? List.of(IN_PROCESS, SINGLE, NEWER, SENTINEL, CLUSTER, LETTUCE, LETTUCE_CLUSTER)
                : List.of(IN_PROCESS, SINGLE, CLUSTER);
    }

    /** The same, a master that a sentinel watches, and both clients of Redis. */
    public static List<TestedBackend> withSentinel() {
        return Repeats.MANY ? all() : List.of(IN_PROCESS, SINGLE, SENTINEL, CLUSTER, LETTUCE, LETTUCE_CLUSTER);
    }

    /** One of each implementation, for what costs much and depends on the arithmetic only; with {@code -Dtests.many=true} all. */
    public static List<TestedBackend> ofEachKind() {
        return Repeats.MANY ? all() : List.of(IN_PROCESS, SINGLE);
    }

    private static TestedBackend onRedis(String name, Supplier<RedissonClient> client) {
        return new TestedBackend(
                name, time -> connected(redis().client(client.get()).timeSource(time)));
    }

    /**
     * A backend on {@link RedisServers#single}, whose keys no other test has, and whose client is that of other tests too: it takes
     * less to open than one with a client of its own ({@link #redis}). To close the backend leaves the client open.
     */
    public static RedisBackend.Builder shared() {
        return redis().client(SharedClients.single());
    }

    /** The same over Lettuce. */
    public static RedisBackend.Builder lettuce() {
        return OnLettuce.single();
    }

    /** The same on {@link RedisServers#cluster}. */
    public static RedisBackend.Builder lettuceCluster() {
        return OnLettuce.cluster();
    }

    /** A Redis backend whose keys no other test has. */
    public static RedisBackend.Builder redis() {
        return RedisBackend.builder().prefix("test-" + OPENED.incrementAndGet()).deadline(Duration.ofSeconds(30));
    }

    /** A limiter in this JVM, or on {@link RedisServers#single} by a client of its own. */
    public static RateLimiter limiter(boolean inRedis) {
        return inRedis ? limiter(single()) : RateLimiters.on(InProcessBackend.create());
    }

    /** The same on {@link RedisServers#single}, by a client of its own. */
    public static RedisBackend.Builder single() {
        return at(RedisServers.single());
    }

    /**
     * A Redis backend whose client is its own, and as patient as that of {@link #shared}: the limiter's own would give up a connection,
     * and the calls on it, when Redis or this JVM does nothing for 1.5 s.
     */
    public static RedisBackend.Builder at(String address) {
        return redis().config(SharedClients.config(address));
    }

    /** The same, and it never gives up a connection. */
    public static RedisBackend.Builder withoutPings(String address) {
        Config config = SharedClients.config(address);
        config.useSingleServer().setPingConnectionInterval(0);
        return redis().config(config);
    }

    /** As {@link #shared}, on {@link RedisServers#cluster}. */
    public static RedisBackend.Builder sharedCluster() {
        return redis().client(SharedClients.cluster());
    }

    /** A limiter on a backend that is connected. To close it closes the backend. */
    public static RateLimiter limiter(RedisBackend.Builder builder) {
        return RateLimiters.on(connected(builder));
    }

    /** A backend in this JVM, at the time of a test. */
    public static InProcessBackend inProcess(TimeSource time) {
        return InProcessBackend.builder().timeSource(time).build();
    }

    /** Builds it and waits until each of its masters has answered: on a busy machine one may miss the test of the beginning. */
    public static RedisBackend connected(RedisBackend.Builder builder) {
        RedisBackend backend = builder.build();
        if (!backend.awaitConnected(Duration.ofSeconds(60))) {
            throw new AssertionError("no connection to a test's Redis within 60 s");
        }
        Await.until(
                "no master is silent",
                () -> Collections.disjoint(
                        backend.health().servers().values(), List.of(Health.State.SUSPECT, Health.State.AWAY)));
        return backend;
    }

    /** A class of its own, because a module without Lettuce on its class path loads the other one too. */
    private static final class OnLettuce {
        static RedisBackend.Builder single() {
            return redis().lettuce(SharedClients.lettuce(), RedisURI.create(RedisServers.single()));
        }

        static RedisBackend.Builder cluster() {
            RedisURI[] nodes =
                    RedisServers.cluster().stream().map(RedisURI::create).toArray(RedisURI[]::new);
            return redis().lettuce(SharedClients.lettuceCluster(), nodes);
        }
    }
}
