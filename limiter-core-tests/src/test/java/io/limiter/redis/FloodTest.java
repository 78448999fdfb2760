package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.BackendException;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

/** More calls than Redis can decide, to policies that would allow them in an outage. Redis is reachable, so they must not. */
@Tag("soak")
class FloodTest {
    private static final int KEYS = 100;
    private static final long LIMIT = 50;
    private static final int INSTANCES = 2;
    private static final int SECONDS = 8;
    private static final Policy OPEN =
            Policy.of("open", Limit.slidingList(LIMIT, Duration.ofHours(1))).withFailureMode(FailureMode.ALLOW);

    private final int port = RedisServers.freePort();
    private final RedisServer server = RedisServers.start(port);

    /** A wire with the bandwidth for some hundreds of calls a second, and twenty times as many calls. */
    @Test
    void twentyTimesWhatTheWireToRedisCarries() throws Exception {
        try (Wire wire = Wire.to(port)) {
            RedisBackend backend = Backends.connected(RedisBackend.builder().address(wire.address()));
            wire.narrow(100_000);
            flood(backend, 24_000, 20);
        }
    }

    /** As many calls as two threads can make, on a Redis that shares the processors with them. */
    @Test
    void asManyAsThisMachineCanAsk() throws Exception {
        flood(Backends.connected(RedisBackend.builder().address("redis://127.0.0.1:" + port)), Long.MAX_VALUE, 1);
    }

    private void flood(RedisBackend backend, long callsPerSecond, int atLeastTimes) throws Exception {
        LongAdder asked = new LongAdder();
        AtomicLong open = new AtomicLong();
        AtomicLong errors = new AtomicLong();
        try (RateLimiter limiter = RateLimiters.builder(backend)
                .fallback(InProcessBackend.create())
                .instances(INSTANCES)
                .build()) {
            long start = System.nanoTime();
            AtOnce.run(2, thread -> {
                long mine = 0;
                for (long now = 0; now < SECONDS * 1_000_000_000L; now = System.nanoTime() - start) {
                    if (mine * 2_000_000_000L / callsPerSecond > now) {
                        LockSupport.parkNanos(100_000);
                        continue;
                    }
                    mine++;
                    asked.increment();
                    PartitionKey key = PartitionKey.of(
                            "client " + ThreadLocalRandom.current().nextInt(KEYS));
                    limiter.acquireAsync(PermitRequest.of(OPEN, key, 1)).whenComplete((decision, failure) -> {
                        if (failure != null) {
                            errors.incrementAndGet();
                        } else if (decision.source() == Decision.Source.FAILED_OPEN) {
                            open.incrementAndGet();
                        }
                    });
                }
            });
            Decision last = limiter.tryAcquire(OPEN, PartitionKey.of("last"), 1);
            long byRedis = limiter.monitor().allowed("open", Decision.Source.REDIS)
                    + limiter.monitor().denied("open", Decision.Source.REDIS);
            long admitted = limiter.monitor().allowed("open", Decision.Source.REDIS);
            long byShare = limiter.monitor().allowed("open", Decision.Source.LOCAL_FALLBACK);
            System.out.printf(
                    "flood: %d asked in %d s, %d decided by Redis (%.1f times as many asked); admitted %d by Redis, %d by"
                            + " the share, %d uncounted; overloads %d, late %d, outages %d, errors %d; then %s%n",
                    asked.sum(),
                    SECONDS,
                    byRedis,
                    (double) asked.sum() / byRedis,
                    admitted,
                    byShare,
                    open.get(),
                    limiter.monitor().failures(BackendException.Kind.OVERLOADED),
                    limiter.monitor().failures(BackendException.Kind.LATE),
                    limiter.monitor().failures(BackendException.Kind.UNAVAILABLE),
                    errors.get(),
                    last.source());
            assertEquals(0, errors.get());
            assertEquals(0, open.get(), "passed uncounted");
            assertTrue(admitted <= KEYS * LIMIT + 1, admitted + " admitted by Redis");
            assertTrue(byShare <= KEYS * LIMIT / INSTANCES + 1, byShare + " admitted by the share");
            assertTrue(byRedis > 0 && asked.sum() >= atLeastTimes * byRedis, "no flood: " + asked + ", " + byRedis);
        } finally {
            RedisServers.stop(server);
        }
    }
}
