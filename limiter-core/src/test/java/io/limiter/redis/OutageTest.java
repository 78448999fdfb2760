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
import io.limiter.kit.Wire;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import redis.embedded.RedisServer;

/**
 * Redis goes away under load and comes back: what callers see, for each way to go away and each failure mode. Prints what it
 * measured, as a row of the table in docs/operations.md.
 */
@Tag("soak")
class OutageTest {
    private static final int THREADS = 4;
    private static final long PAUSE_NANOS = 1_000_000;
    private static final int INSTANCES = 2;
    private static final int LIMIT = 1_000;
    private static final long SECOND = 1_000_000_000L;

    /** A way to go away. */
    enum Fault {
        BLACK_HOLE(true),
        STOPPED(true),
        KILLED(false);

        final boolean stateSurvives;

        Fault(boolean stateSurvives) {
            this.stateSurvives = stateSurvives;
        }
    }

    private final int port = RedisServers.freePort();
    private RedisServer server = RedisServers.start(port);
    private final long pid = RedisServers.pid(port);
    private final Wire wire = Wire.to(port);
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicLong errors = new AtomicLong();

    /** What one thread saw of the calls that began in one span of time. */
    private static final class Span {
        private final long[] latencies = new long[100_000];
        private int calls;
        private int fromRedis;

        void add(long nanos, boolean redis) {
            if (calls < latencies.length) {
                latencies[calls++] = nanos;
            }
            fromRedis += redis ? 1 : 0;
        }

        long[] sorted() {
            long[] sorted = Arrays.copyOf(latencies, calls);
            Arrays.sort(sorted);
            return sorted;
        }
    }

    private enum Time {
        WARM_UP,
        WELL,
        AWAY,
        BACK,
        ONE_SECOND_LATER
    }

    private volatile Time time = Time.WARM_UP;

    @ParameterizedTest
    @CsvSource({
        "BLACK_HOLE, DENY", "BLACK_HOLE, LOCAL", "BLACK_HOLE, ALLOW",
        "STOPPED, DENY", "STOPPED, LOCAL", "STOPPED, ALLOW",
        "KILLED, DENY", "KILLED, LOCAL", "KILLED, ALLOW"
    })
    void everyCallIsAnsweredSoonAndRedisDecidesAgain(Fault fault, FailureMode mode) throws Exception {
        Policy wide = Policy.of("wide", Limit.fixedWindow(1_000_000_000, Duration.ofHours(1)))
                .onFailure(mode);
        Policy narrow = Policy.of("narrow", Limit.slidingList(LIMIT, Duration.ofHours(1)))
                .onFailure(mode);
        AtomicLong byRedis = new AtomicLong();
        AtomicLong bySomebody = new AtomicLong();
        List<Map<Time, Span>> spans = new ArrayList<>();
        RedisBackend backend = Backends.connected(RedisBackend.builder().address("redis://127.0.0.1:" + wire.port()));
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try (RateLimiter limiter = RateLimiter.builder(backend)
                .fallback(InProcessBackend.create())
                .instances(INSTANCES)
                .build()) {
            for (int t = 0; t < THREADS; t++) {
                Map<Time, Span> mine = new EnumMap<>(Time.class);
                for (Time each : Time.values()) {
                    mine.put(each, new Span());
                }
                spans.add(mine);
                PartitionKey key = PartitionKey.of("client " + t);
                threads.execute(() -> {
                    while (!over.get()) {
                        Time then = time;
                        long start = System.nanoTime();
                        try {
                            Decision decision = limiter.tryAcquire(wide, key, 1);
                            mine.get(then).add(System.nanoTime() - start, decision.source() == Decision.Source.REDIS);
                            Decision vote = limiter.tryAcquire(narrow, PartitionKey.global(), 1);
                            if (vote.allowed() && vote.source() != Decision.Source.FAILED_OPEN) {
                                (vote.source() == Decision.Source.REDIS ? byRedis : bySomebody).incrementAndGet();
                            }
                        } catch (RuntimeException e) {
                            errors.incrementAndGet();
                        }
                        LockSupport.parkNanos(PAUSE_NANOS);
                    }
                });
            }
            span(Time.WARM_UP, 2 * SECOND);
            span(Time.WELL, 2 * SECOND);
            goAway(fault);
            span(Time.AWAY, 3 * SECOND);
            comeBack(fault);
            span(Time.BACK, SECOND);
            span(Time.ONE_SECOND_LATER, 2 * SECOND);
            over.set(true);
            threads.shutdown();
            assertTrue(threads.awaitTermination(30, TimeUnit.SECONDS), "a call hangs");
        } finally {
            over.set(true);
            threads.shutdownNow();
            wire.close();
            RedisServers.stop(server);
        }
        Span well = merged(spans, Time.WELL);
        Span away = merged(spans, Time.AWAY);
        Span later = merged(spans, Time.ONE_SECOND_LATER);
        double share = 100.0 * later.fromRedis / later.calls;
        System.out.printf(
                Locale.ROOT,
                "| %s | %s | %s | %s | %.2f %% | %d + %d | %d |%n",
                fault.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                mode.text(),
                row(well),
                row(away),
                share,
                byRedis.get(),
                bySomebody.get(),
                errors.get());
        assertEquals(0, errors.get());
        assertTrue(share >= 99, share + " % of the calls were decided by Redis a second after its return");
        assertTrue(away.sorted()[away.calls / 2] < 5_000_000, "half of the calls waited while Redis was away");
        if (fault.stateSurvives) {
            assertTrue(byRedis.get() <= LIMIT, byRedis + " admitted of " + LIMIT);
        }
        assertTrue(
                bySomebody.get() <= (mode == FailureMode.DENY ? 0 : LIMIT / INSTANCES), bySomebody + " by the share");
    }

    private void span(Time next, long nanos) {
        time = next;
        long start = System.nanoTime();
        Await.until(Duration.ofMinutes(1), "the span is over", () -> System.nanoTime() - start > nanos);
    }

    private void goAway(Fault fault) {
        switch (fault) {
            case BLACK_HOLE -> wire.cut();
            case STOPPED -> RedisServers.signal("STOP", pid);
            case KILLED -> RedisServers.signal("KILL", pid);
        }
    }

    private void comeBack(Fault fault) throws IOException {
        switch (fault) {
            case BLACK_HOLE -> wire.mend();
            case STOPPED -> RedisServers.signal("CONT", pid);
            case KILLED -> server = RedisServers.start(port);
        }
    }

    private static Span merged(List<Map<Time, Span>> spans, Time time) {
        Span all = new Span();
        for (Map<Time, Span> ofThread : spans) {
            Span one = ofThread.get(time);
            for (int i = 0; i < one.calls; i++) {
                all.add(one.latencies[i], false);
            }
            all.fromRedis += one.fromRedis;
        }
        return all;
    }

    private static String row(Span span) {
        long[] sorted = span.sorted();
        return millis(sorted[sorted.length / 2]) + " / " + millis(sorted[(int) (sorted.length * 0.99)]) + " / "
                + millis(sorted[sorted.length - 1]);
    }

    private static String millis(long nanos) {
        return String.format(Locale.ROOT, "%.3f", nanos / 1_000_000.0);
    }
}
