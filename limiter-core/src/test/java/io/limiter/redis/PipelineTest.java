package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import org.redisson.config.NameMapper;
import redis.clients.jedis.Jedis;

/** The connection of the limiter's own, on clients of the application. */
class PipelineTest {
    private static final Policy POLICY =
            Policy.of("pipe", Limit.fixedWindow(100_000, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);

    private static Config config() {
        Config config = new Config();
        config.useSingleServer()
                .setAddress(RedisServers.single())
                .setClientName("pipeline-test")
                .setConnectionMinimumIdleSize(1)
                .setConnectionPoolSize(2);
        return config;
    }

    private static RateLimiter limiter(RedissonClient client, String prefix) {
        return RateLimiters.on(Backends.connected(
                RedisBackend.builder().client(client).prefix(prefix).deadline(Duration.ofSeconds(20))));
    }

    private static Jedis redis() {
        return new Jedis("127.0.0.1", RedisServers.singlePort());
    }

    private static long connections(Jedis redis) {
        return redis.clientList()
                .lines()
                .filter(line -> line.contains("name=pipeline-test"))
                .count();
    }

    @Test
    void oneConnectionBesideThePoolIsOpenedAndClosed() {
        RedissonClient client = Redisson.create(config());
        try (Jedis redis = redis()) {
            client.getBucket("unused").isExists();
            RateLimiter limiter = limiter(client, "pipe-one");
            limiter.tryAcquire(POLICY, PartitionKey.of("a"), 1);
            long during = connections(redis);
            limiter.close();
            Await.until(Duration.ofSeconds(20), "it is closed", () -> connections(redis) == during - 1);
            assertFalse(client.isShutdown());
        } finally {
            client.shutdown();
        }
    }

    @Test
    void aNameMapperOfTheClientIsUsed() {
        Config config = config();
        config.setNameMapper(new NameMapper() {
            @Override
            public String map(String name) {
                return "app1:" + name;
            }

            @Override
            public String unmap(String name) {
                return name.substring("app1:".length());
            }
        });
        RedissonClient client = Redisson.create(config);
        try (Jedis redis = redis();
                RateLimiter limiter = limiter(client, "pipe-mapped")) {
            limiter.tryAcquire(POLICY, PartitionKey.of("a"), 1);
            assertEquals(1, redis.keys("app1:pipe-mapped:*").size());
            assertEquals(0, redis.keys("pipe-mapped:*").size());
        } finally {
            client.shutdown();
        }
    }

    /** Connections are killed under load: no call waits for its deadline of 20 s, and none is counted twice. */
    @Test
    void whenConnectionsCloseTheirCallsEndAtOnce() {
        RedissonClient client = Redisson.create(config());
        try (Jedis redis = redis();
                RateLimiter limiter = limiter(client, "pipe-killed")) {
            long allowed = 0;
            long asked = 0;
            long began = System.nanoTime();
            for (int round = 0; round < 20; round++) {
                List<CompletableFuture<Decision>> answers = IntStream.range(0, 200)
                        .mapToObj(i -> limiter.acquireAsync(PermitRequest.of(POLICY, PartitionKey.of("k"), 1))
                                .toCompletableFuture())
                        .toList();
                redis.clientList()
                        .lines()
                        .filter(line -> line.contains("name=pipeline-test"))
                        .map(line -> line.replaceAll(".* addr=(\\S+) .*", "$1"))
                        .forEach(address -> kill(redis, address));
                asked += answers.size();
                allowed += answers.stream().filter(one -> one.join().allowed()).count();
            }
            assertTrue(System.nanoTime() - began < 20_000_000_000L, "they ended before their deadline");
            Await.until(
                    Duration.ofSeconds(20),
                    "Redis is asked again",
                    () -> limiter.tryAcquire(POLICY, PartitionKey.of("k"), 1).source() == Decision.Source.REDIS);
            long counted = 100_000
                    - limiter.tryAcquire(PermitRequest.of(POLICY, PartitionKey.of("k"), 0)
                                    .withLook())
                            .remaining();
            assertTrue(
                    counted > allowed && counted <= asked + 100,
                    counted + " of " + asked + ", " + allowed + " allowed");
        } finally {
            client.shutdown();
        }
    }

    private static void kill(Jedis redis, String address) {
        try {
            redis.clientKill(address);
        } catch (redis.clients.jedis.exceptions.JedisDataException alreadyGone) {
            // It was closed in the meantime.
        }
    }
}
