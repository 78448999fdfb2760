package io.limiter.redis;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import redis.clients.jedis.Jedis;

/** Instances that share the states of one test. Closes them. */
final class FlightInstances implements AutoCloseable {
    static final Duration SOON = Duration.ofSeconds(60);
    static final PartitionKey KEY = PartitionKey.of("key");
    /** Its permits are renewed often. */
    static final Policy CALLS =
            Policy.of("calls", Limit.concurrent(2, Duration.ofSeconds(1))).withFailureMode(FailureMode.DENY);

    static final Policy SLOW =
            Policy.of("slow", Limit.concurrent(2, Duration.ofMinutes(10))).withFailureMode(FailureMode.DENY);

    final String prefix = "flights-" + System.nanoTime();
    private final List<RateLimiter> opened = new ArrayList<>();

    /** One at the Redis that all tests share. */
    RateLimiter open() {
        return open(RedisBackend.builder().address(RedisServers.single()).deadline(Duration.ofSeconds(30)));
    }

    /** One whose Redis goes away: it does not wait for long then. */
    RateLimiter open(String address) {
        return open(RedisBackend.builder().address(address).deadline(Duration.ofMillis(300)));
    }

    /** One that waits for as long as by default. */
    RateLimiter impatient(String address) {
        return open(RedisBackend.builder().address(address).deadline(Duration.ofMillis(50)));
    }

    /** One that remembers denials for as long as a test lasts. */
    RateLimiter withLongMemory() {
        return open(RedisBackend.builder()
                .address(RedisServers.single())
                .deadline(Duration.ofSeconds(30))
                .denialMaxAge(Duration.ofSeconds(60)));
    }

    RateLimiter inCluster() {
        return open(RedisBackend.builder().cluster(RedisServers.cluster()).deadline(Duration.ofSeconds(30)));
    }

    private RateLimiter open(RedisBackend.Builder backend) {
        RateLimiter limiter = RateLimiters.builder(Backends.connected(backend.prefix(prefix)))
                .fallback(InProcessBackend.create())
                .build();
        opened.add(limiter);
        return limiter;
    }

    /** Permits of the key that no call holds. */
    static long free(RateLimiter limiter, Policy policy) {
        return Looks.at(limiter, policy, KEY).outcomes().get(0).remaining();
    }

    /** Redis loses all states. */
    void forget() {
        try (Jedis redis = RedisServers.jedis(RedisServers.singlePort())) {
            redis.keys(prefix + "*").forEach(redis::del);
        }
    }

    @Override
    public void close() {
        opened.forEach(RateLimiter::close);
        opened.clear();
    }
}
