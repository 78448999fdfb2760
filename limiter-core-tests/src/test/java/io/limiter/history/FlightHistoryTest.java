package io.limiter.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.limiter.Backend;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.history.FlightHistory.Call;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisClientKind;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Two instances on one Redis, each by another client, a policy of calls in flight and a rate: what their callers see has an explanation. */
class FlightHistoryTest {
    private static final AtomicInteger RUNS = new AtomicInteger();
    private static final long LIMIT = 4;
    /** So long that no permit ends because this machine was busy. */
    private static final Duration LONG = Duration.ofMinutes(10);
    /** Short, so that what is left is renewed, or ends. */
    private static final Duration SHORT = Duration.ofSeconds(1);

    private static final Duration LASTS = Duration.ofMillis(1_500);
    private static final int THREADS = 8;
    private static final int KEYS = 3;
    private static final int MOST_RUNS = 10;

    private String prefix = "";
    private Duration hold = LONG;
    /** Of the times: on a busy machine the same calls take longer. */
    private int scale;

    private Limit rate;
    private Policy policy;

    /** The next run, with keys of its own. */
    private void begin(int run) {
        prefix = "flight-history-" + RUNS.incrementAndGet();
        scale = 1 << run / 2;
        rate = Limit.fixedWindow(20, Duration.ofMillis(200 * scale)).withName("rate");
        policy = Policy.of("p", Limit.concurrent(LIMIT, hold), rate).withFailureMode(FailureMode.DENY);
    }

    private RedisBackend backend(RedisClientKind client) {
        return Backends.connected(client.single().prefix(prefix));
    }

    /** The calls, and what is left in flight at the end. */
    private List<String> judged(Backend first, Backend second, List<Call> all) throws Exception {
        try (RateLimiter one = RateLimiters.on(first);
                RateLimiter two = RateLimiters.on(second)) {
            run(List.of(one, two), all);
            List<String> faults = FlightHistory.judge(all, LIMIT, rate, scale);
            if (faults.isEmpty()) {
                try {
                    // Of the short policy longer than its hold, and shorter than what is renewed lasts.
                    Await.until(Duration.ofSeconds(hold == LONG ? 60 : 3), "nothing is in flight", () -> isFree(two));
                } catch (AssertionError left) {
                    return List.of(String.valueOf(left.getMessage()));
                }
            }
            return faults;
        }
    }

    private boolean isFree(RateLimiter limiter) {
        for (int i = 0; i < KEYS; i++) {
            Decision look = Looks.at(limiter, policy, PartitionKey.of("k" + i));
            if (look.outcomes().get(0).remaining() != LIMIT) {
                return false;
            }
        }
        return true;
    }

    private void run(List<RateLimiter> instances, List<Call> all) throws Exception {
        AtOnce.call(THREADS, i -> call(instances.get(i % instances.size()), i % instances.size(), new Random(i)))
                .forEach(all::addAll);
    }

    private List<Call> call(RateLimiter limiter, int instance, Random random) {
        List<Call> calls = new ArrayList<>();
        long until = System.nanoTime() + LASTS.toNanos() * scale;
        while (System.nanoTime() < until) {
            String key = "k" + random.nextInt(KEYS);
            long permits = 1 + random.nextInt(2);
            long start = System.nanoTime();
            InFlight call = limiter.enter(policy, PartitionKey.of(key), permits);
            long end = System.nanoTime();
            LockSupport.parkNanos((long) random.nextInt(4_000_000) * scale);
            Decision decision = call.decision();
            long ending = call.allowed() ? System.nanoTime() : Long.MAX_VALUE;
            call.close();
            calls.add(new Call(
                    instance,
                    key,
                    permits,
                    start,
                    end,
                    call.allowed(),
                    isDeniedBy(decision, 0),
                    isDeniedBy(decision, 1),
                    decision.source() == Decision.Source.CACHED_DENIAL,
                    ending));
        }
        return calls;
    }

    private boolean isDeniedBy(Decision decision, int limit) {
        return decision.violated().stream()
                .anyMatch(one -> one.limit().equals(policy.limits().get(limit)));
    }

    @Test
    void whatCallersSeeHasAnExplanation() throws Exception {
        List<Call> all = new ArrayList<>();
        for (int i = 0; i < MOST_RUNS && !isEnough(all); i++) {
            begin(i);
            List<Call> ofRun = new ArrayList<>();
            List<String> faults = judged(backend(RedisClientKind.REDISSON), backend(RedisClientKind.LETTUCE), ofRun);
            // On a busy machine an end may be on its way for longer than the judge takes it to be, but not in each run.
            boolean isLate = !faults.isEmpty() && faults.stream().allMatch(one -> one.startsWith(FlightHistory.DENIED));
            if (!isLate) {
                assertEquals(List.of(), faults);
                all.addAll(ofRun);
            }
        }
        assertTrue(isEnough(all), all.size() + " calls, too few of some kind");
    }

    private static boolean isEnough(List<Call> all) {
        Stream<Predicate<Call>> kinds = Stream.of(
                Call::allowed, one -> one.byFlight() && !one.byRate(), one -> one.byRate() && !one.byFlight());
        return kinds.allMatch(kind -> all.stream().filter(kind).count() > 20);
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource
    void aFaultOfOneInstanceIsFound(FaultyFlights.Fault fault) throws Exception {
        hold = SHORT;
        int calls = 0;
        // How many calls there are in a run, and so whether the fault shows, depends on what else the machine does.
        for (int i = 0; i < MOST_RUNS; i++) {
            begin(i);
            List<Call> all = new ArrayList<>();
            if (!judged(
                            new FaultyFlights(backend(RedisClientKind.LETTUCE), fault),
                            backend(RedisClientKind.REDISSON),
                            all)
                    .isEmpty()) {
                return;
            }
            calls += all.size();
        }
        fail("nothing found in " + calls + " calls");
    }
}
