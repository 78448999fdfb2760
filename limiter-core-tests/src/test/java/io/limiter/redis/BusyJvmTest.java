package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import ch.qos.logback.classic.Level;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Backends;
import io.limiter.kit.OwnRedis;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redis answers, and this JVM does not get to read it: that is no outage of Redis, so `allow` must not open. */
class BusyJvmTest extends StartingRedis {
    private static final Policy OPEN =
            Policy.of("open", Limit.fixedWindow(1_000_000, Duration.ofHours(1))).withFailureMode(FailureMode.ALLOW);

    /** The threads that read are held up for several times what a probe waits; nothing else is wrong. */
    @Test
    void threadsThatReadAnswersAreHeldUp() throws Exception {
        Config config = new Config();
        config.useSingleServer().setAddress(address(port));
        CompletableFuture<Void> release = new CompletableFuture<>();
        OwnRedis own = OwnRedis.at(port);
        RedissonClient client = Redisson.create(config);
        try (own;
                RedisBackend backend =
                        Backends.connected(RedisBackend.builder().client(client).prefix("busy-jvm"));
                RateLimiter limiter = limiter(backend)) {
            EventLoopGroup loops = ((Redisson) client).getServiceManager().getGroup();
            List<EventExecutor> all = new ArrayList<>();
            loops.forEach(all::add);
            CountDownLatch heldUp = new CountDownLatch(all.size());
            for (EventExecutor loop : all) {
                loop.execute(() -> {
                    heldUp.countDown();
                    release.join();
                });
            }
            heldUp.await();
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1_500);
            Map<Decision.Source, Integer> sources = new EnumMap<>(Decision.Source.class);
            do {
                sources.merge(limiter.tryAcquire(OPEN, KEY, 1).source(), 1, Integer::sum);
                LockSupport.parkNanos(1_000_000);
            } while (System.nanoTime() < end);
            assertEquals(Set.of(Decision.Source.LOCAL_FALLBACK), sources.keySet(), log.toString());
            assertFalse(backend.health().isAway(), backend.health().toString());
            release.complete(null);
            redisDecides(limiter);
            assertEquals(List.of(), log.of(Level.WARN, "RL-225"));
        } finally {
            release.complete(null);
            client.shutdown();
        }
    }
}
