package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** Redis is killed and started again under load: what callers see, for each failure mode. Prints what it measured. */
@Tag("soak")
class RestartUnderLoadTest {
    private static final int THREADS = 16;
    private static final Duration DEADLINE = Duration.ofMillis(250);

    @ParameterizedTest
    @EnumSource(FailureMode.class)
    void everyCallIsAnsweredAndRedisDecidesAgain(FailureMode mode) throws Exception {
        int port = RedisServers.freePort();
        RedisServers.start(port);
        Policy policy = Policy.of("load", Limit.fixedWindow(1_000_000_000, Duration.ofHours(1)))
                .onFailure(mode);
        RedisBackend backend = Backends.connected(
                RedisBackend.builder().address("redis://127.0.0.1:" + port).deadline(DEADLINE));
        Map<Decision.Source, LongAdder> seen = new EnumMap<>(Decision.Source.class);
        for (Decision.Source source : Decision.Source.values()) {
            seen.put(source, new LongAdder());
        }
        AtomicLong slowestMicros = new AtomicLong();
        AtomicLong errors = new AtomicLong();
        AtomicLong lastFromRedis = new AtomicLong();
        AtomicBoolean over = new AtomicBoolean();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (RateLimiter limiter =
                RateLimiter.builder(backend).fallback(InProcessBackend.create()).build()) {
            for (int t = 0; t < THREADS; t++) {
                PartitionKey key = PartitionKey.of("client " + t);
                threads.submit(() -> {
                    while (!over.get()) {
                        long start = System.nanoTime();
                        try {
                            Decision decision = limiter.tryAcquire(policy, key, 1);
                            seen.get(decision.source()).increment();
                            if (decision.source() == Decision.Source.REDIS) {
                                lastFromRedis.set(System.nanoTime());
                            }
                        } catch (RuntimeException e) {
                            errors.incrementAndGet();
                        }
                        slowestMicros.accumulateAndGet((System.nanoTime() - start) / 1_000, Math::max);
                    }
                });
            }
            long start = System.nanoTime();
            Await.until(Duration.ofSeconds(30), "a second of load", () -> System.nanoTime() - start > 1_000_000_000L);
            kill(port);
            long stopped = System.nanoTime();
            Await.until(Duration.ofSeconds(30), "two seconds away", () -> System.nanoTime() - stopped > 2_000_000_000L);
            RedisServer second = RedisServers.start(port);
            long started = System.nanoTime();
            Await.until(Duration.ofSeconds(60), "Redis decides again", () -> lastFromRedis.get() > started);
            long recovered = TimeUnit.NANOSECONDS.toMillis(lastFromRedis.get() - started);
            over.set(true);
            threads.shutdown();
            assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS), "a call hangs");
            System.out.printf(
                    "%-6s answers %s; slowest %d ms; first answer of Redis %d ms after its start; errors %d%n",
                    mode.text(), seen, slowestMicros.get() / 1_000, recovered, errors.get());
            assertEquals(0, errors.get());
            assertTrue(slowestMicros.get() < 5_000_000, "a call took " + slowestMicros.get() + " us");
            RedisServers.stop(second);
        } finally {
            over.set(true);
            threads.shutdownNow();
        }
    }

    private static void kill(int port) {
        try (Jedis redis = new Jedis("127.0.0.1", port)) {
            String pid = redis.info("server").replaceAll("(?s).*process_id:(\\d+).*", "$1");
            ProcessHandle.of(Long.parseLong(pid)).orElseThrow().destroyForcibly();
        }
    }
}
