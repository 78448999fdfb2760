package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Looks;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many threads at once, while states are made, dropped and shared, the table grows and the clock goes on. */
class InProcessStressTest extends BoundedBackend {
    private static final int THREADS = 6;
    private static final int CALLS = Repeats.of(5_000, 15_000);
    private static final long PERIOD = 1_000;
    private static final int PERMITS = 3;

    private final Policy one = Policy.of("one", Limit.slidingList(PERMITS, Duration.ofMillis(1)));
    private final Policy two = Policy.of(
            "two",
            Limit.slidingZset(PERMITS, Duration.ofMillis(1)),
            AnyAlgorithm.limit(Algorithm.TOKEN_BUCKET, 2 * PERMITS, PERIOD).withName("bucket"));
    /** The time is fixed during a call, so that the timestamps are exact. */
    private final ReentrantReadWriteLock still = new ReentrantReadWriteLock();
    /** Permits by limit and key, and by timestamp. */
    private final Map<List<Object>, NavigableMap<Long, LongAdder>> taken = new ConcurrentHashMap<>();

    private final LongAdder calls = new LongAdder();

    @ParameterizedTest
    @ValueSource(ints = {20, 300, 3_000})
    void noKeyEverGetsMoreThanItsLimit(int entries) {
        start(entries, Math.min(6L * entries, 9_999));
        assertTimeoutPreemptively(Duration.ofSeconds(60), () -> runAll(entries));
        taken.forEach((whose, byStamp) -> checkStamps(whose, byStamp));
        assertEquals(
                calls.sum(),
                limiter.monitor().policies().stream()
                        .mapToLong(p -> limiter.monitor().allowed(p, Decision.Source.IN_PROCESS)
                                + limiter.monitor().denied(p, Decision.Source.IN_PROCESS))
                        .sum());

        time.advance(Duration.ofMinutes(1));
        Policy much = Policy.of("much", Limit.slidingList(10_000, Duration.ofMillis(1)));
        for (int i = 0; i < entries; i++) {
            limiter.tryAcquire(much, PartitionKey.global(), 10_000);
        }
        assertEquals(0, backend.entries());
        assertEquals(0, backend.stamps());
        assertTrue(backend.table.sharedEntries.used() <= 1, "at most what the last call shared");

        long before = backend.overflowed();
        flood(one, entries);
        assertEquals(entries, backend.entries(), "all that was lent was returned");
        assertEquals(before, backend.overflowed());
    }

    private void runAll(int entries) throws Exception {
        AtomicInteger calling = new AtomicInteger(THREADS);
        AtOnce.run(THREADS + 1, thread -> {
            while (thread == THREADS && calling.get() > 0) {
                still.writeLock().lock();
                time.advanceMicros(ThreadLocalRandom.current().nextLong(2 * PERIOD));
                still.writeLock().unlock();
                limiter.announce(one);
                limiter.retract(one);
                Thread.yield();
            }
            try {
                for (int i = 0; thread < THREADS && i < CALLS; i++) {
                    still.readLock().lock();
                    try {
                        call(limiter, entries);
                    } finally {
                        still.readLock().unlock();
                    }
                }
            } finally {
                calling.decrementAndGet();
            }
        });
    }

    private void call(RateLimiter limiter, int keys) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        PartitionKey key = PartitionKey.of("k" + random.nextInt(2) * random.nextInt(2 * keys));
        Policy policy = random.nextBoolean() ? one : two;
        if (random.nextInt(10) == 0) {
            Looks.at(limiter, policy, key);
        } else if (random.nextInt(4) > 0) {
            Decision decision = limiter.tryAcquire(policy, key, 1);
            calls.increment();
            count(decision, 1);
            if (random.nextInt(5) == 0 && policy == one && limiter.refund(decision)) {
                count(decision, -1);
            }
        } else {
            PartitionKey other = PartitionKey.of("k" + random.nextInt(2 * keys));
            Policy others = other.equals(key) ? policy == one ? two : one : random.nextBoolean() ? one : two;
            Decision decision = limiter.tryAcquire(
                    PermitRequest.of(List.of(new Charge(policy, key, 1), new Charge(others, other, 1))));
            calls.add(
                    decision.allowed()
                            ? 2
                            : decision.violated().stream()
                                    .map(LimitOutcome::charge)
                                    .distinct()
                                    .count());
            count(decision, 1);
        }
    }

    private void count(Decision decision, int permits) {
        for (LimitOutcome outcome : decision.allowed() ? decision.outcomes() : List.<LimitOutcome>of()) {
            taken.computeIfAbsent(
                            List.of(outcome.limit(), outcome.charge().key()), any -> new ConcurrentSkipListMap<>())
                    .computeIfAbsent(outcome.stampMicros(), any -> new LongAdder())
                    .add(permits);
        }
    }

    /** The timestamps are times. */
    private void checkStamps(List<Object> whose, NavigableMap<Long, LongAdder> byStamp) {
        long limit = ((Limit) whose.get(0)).capacity();
        byStamp.forEach((stamp, permits) -> {
            long within = byStamp.subMap(stamp, stamp + PERIOD).values().stream()
                    .mapToLong(LongAdder::sum)
                    .sum();
            // What a bucket refills in a period comes on top.
            long most = limit == PERMITS ? limit : 2 * limit;
            assertTrue(within <= most, () -> whose + " got " + within + " within a period of " + stamp);
        });
    }
}
