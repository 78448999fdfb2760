package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.SaveMode;
import redis.embedded.RedisServer;

/** Redis answers, and this JVM does not get to read it: that is no outage of Redis, so `allow` must not open. */
class BusyJvmTest extends StartingRedis {
    private static final Policy OPEN =
            Policy.of("open", Limit.fixedWindow(1_000_000, Duration.ofHours(1))).withFailureMode(FailureMode.ALLOW);
    private static final int SECONDS = Integer.getInteger("limiter.busy.seconds", 8);

    /** The threads that read are held up for several times what a probe waits; nothing else is wrong. */
    @Test
    void threadsThatReadAnswersAreHeldUp() throws Exception {
        RedisServer server = RedisServers.start(port);
        Config config = new Config();
        config.useSingleServer().setAddress(address(port));
        RedissonClient client = Redisson.create(config);
        CountDownLatch release = new CountDownLatch(1);
        try (RedisBackend backend =
                        RedisBackend.builder().client(client).prefix("busy-jvm").build();
                RateLimiter limiter = limiter(backend)) {
            assertTrue(backend.awaitConnected(LONG));
            EventLoopGroup loops = ((Redisson) client).getServiceManager().getGroup();
            List<EventExecutor> all = new ArrayList<>();
            loops.forEach(all::add);
            CountDownLatch heldUp = new CountDownLatch(all.size());
            for (EventExecutor loop : all) {
                loop.execute(() -> {
                    heldUp.countDown();
                    awaitUninterruptibly(release);
                });
            }
            heldUp.await();
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1_500);
            Map<Decision.Source, Integer> sources = new EnumMap<>(Decision.Source.class);
            while (System.nanoTime() < end) {
                sources.merge(limiter.tryAcquire(OPEN, KEY, 1).source(), 1, Integer::sum);
                LockSupport.parkNanos(1_000_000);
            }
            assertEquals(Set.of(Decision.Source.LOCAL_FALLBACK), sources.keySet(), log.toString());
            assertFalse(backend.health().isAway(), backend.health().toString());
            release.countDown();
            redisDecides(limiter);
            assertEquals(List.of(), log.of(Level.WARN, "RL-225"));
        } finally {
            release.countDown();
            client.shutdown();
            RedisServers.stop(server);
        }
    }

    /** Many threads that compute, as a burst of requests does, beside some that ask. */
    @Tag("soak")
    @ParameterizedTest
    @ValueSource(ints = {64, 200})
    void busyThreads(int count) throws Exception {
        List<Thread> threads = new ArrayList<>();
        Map<Decision.Source, Integer> sources = Collections.synchronizedMap(new EnumMap<>(Decision.Source.class));
        withServer(() -> {
            Process judge = judge();
            try (RedisBackend backend =
                            RedisBackend.builder().address(address(port)).build();
                    RateLimiter limiter = limiter(backend)) {
                assertTrue(backend.awaitConnected(LONG));
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
                for (int i = 0; i < count; i++) {
                    boolean asks = i % 8 == 0;
                    threads.add(new Thread(() -> {
                        long sum = 0;
                        while (System.nanoTime() - end < 0) {
                            for (int k = 0; k < 200_000; k++) {
                                sum += sum * 31 + k;
                            }
                            if (asks || sum == 42) {
                                Decision decision = limiter.tryAcquire(OPEN, PartitionKey.of("k" + sum % 100), 1);
                                sources.merge(decision.source(), 1, Integer::sum);
                            }
                        }
                    }));
                }
                threads.forEach(Thread::start);
                for (Thread thread : threads) {
                    thread.join();
                }
                long slowest = slowestPong(judge);
                System.out.printf(
                        "busy: %d threads for %d s, %s; another process got PONG within %d ms throughout%n",
                        count, SECONDS, sources, slowest);
                if (slowest <= 200) {
                    assertEquals(0, sources.getOrDefault(Decision.Source.FAILED_OPEN, 0), log.toString());
                }
                redisDecides(limiter);
            } catch (Exception e) {
                throw new AssertionError(e);
            } finally {
                judge.destroyForcibly();
            }
        });
    }

    /** A dead Redis, and a JVM that has time: opens soon. */
    @Test
    void aDeadRedisOpensWithinHalfASecond() {
        withServer(() -> {
            try (RedisBackend backend =
                            RedisBackend.builder().address(address(port)).build();
                    RateLimiter limiter = limiter(backend)) {
                assertTrue(backend.awaitConnected(LONG));
                redisDecides(limiter);
                try (Jedis redis = new Jedis("127.0.0.1", port)) {
                    redis.shutdown(SaveMode.NOSAVE);
                } catch (RuntimeException gone) {
                    assertTrue(gone.getMessage() != null);
                }
                long start = System.nanoTime();
                Await.until("it opens", () -> limiter.tryAcquire(OPEN, KEY, 1).source() == Decision.Source.FAILED_OPEN);
                System.out.printf("a dead Redis: open after %d ms%n", (System.nanoTime() - start) / 1_000_000);
            }
        });
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Another process that asks Redis for a PONG all the time. */
    private Process judge() {
        try {
            return new ProcessBuilder(
                            ProcessHandle.current().info().command().orElse("java"),
                            "-cp",
                            System.getProperty("java.class.path"),
                            PongJudge.class.getName(),
                            Integer.toString(port))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static long slowestPong(Process judge) throws Exception {
        judge.getOutputStream().close();
        String said = new String(judge.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return Long.parseLong(said.trim());
    }
}
