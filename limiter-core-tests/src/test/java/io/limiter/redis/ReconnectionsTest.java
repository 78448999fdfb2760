package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.UnixOperatingSystemMXBean;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.LogLines;
import io.limiter.kit.OwnRedis;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.args.ClientType;
import redis.clients.jedis.params.ClientKillParams;

/** A connection that is lost again and again leaves nothing behind. */
@Isolated("counts the threads, files and memory of the JVM")
@Tag("faults")
class ReconnectionsTest {
    private static final Policy POLICY = Policy.of("often", Limit.fixedWindow(1_000_000, Duration.ofHours(1)))
            .withFailureMode(FailureMode.DENY);
    private static final int WARM = 200;
    private static final int TIMES = 1_000;
    private static final long MOST_GROWTH = 2_000_000;

    private static final ClientKillParams KILL =
            new ClientKillParams().type(ClientType.NORMAL).skipMe(ClientKillParams.SkipMe.YES);

    private record Held(long threads, long files, long connections, long heapBytes) {
        static Held now(Jedis redis) {
            for (int i = 0; i < 3; i++) {
                System.gc();
            }
            return new Held(
                    Thread.getAllStackTraces().size(),
                    ((UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                            .getOpenFileDescriptorCount(),
                    redis.clientList().lines().count(),
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
        }
    }

    @Test
    void aThousandReconnectionsLeaveNoThreadFileOrMemory() {
        try (OwnRedis own = OwnRedis.start();
                LogLines quiet = new LogLines();
                Jedis redis = own.jedis();
                RateLimiter limiter =
                        Backends.limiter(Backends.redis().address(own.address()).deadline(Duration.ofSeconds(5)))) {
            lose(redis, limiter, WARM);
            Held before = Held.now(redis);
            lose(redis, limiter, TIMES);
            Held after = Held.now(redis);
            System.out.println(before + ", after " + TIMES + " reconnections " + after);
            assertTrue(after.threads <= before.threads, before + ", then " + after);
            assertTrue(after.files <= before.files + 2, before + ", then " + after);
            assertTrue(after.connections <= before.connections + 2, before + ", then " + after);
            assertTrue(after.heapBytes - before.heapBytes < MOST_GROWTH, before + ", then " + after);
        }
    }

    private static void lose(Jedis redis, RateLimiter limiter, int times) {
        for (int i = 0; i < times; i++) {
            redis.clientKill(KILL);
            Await.until(
                    "Redis decides again",
                    () -> limiter.tryAcquire(POLICY, PartitionKey.of("k"), 1).source() == Decision.Source.REDIS);
        }
        assertEquals(
                Decision.Source.REDIS,
                limiter.tryAcquire(POLICY, PartitionKey.of("k"), 1).source());
    }
}
