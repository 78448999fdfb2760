package io.limiter.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.fail;

import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.history.BlockHistory.Seen;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisClientKind;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Two instances on one Redis, each by another client, that block keys: what their callers see has an explanation. */
class BlockHistoryTest {
    private static final AtomicInteger RUNS = new AtomicInteger();
    private static final int THREADS = 8;
    private static final int KEYS = 4;
    /** Of the last key the block is lifted now and then. */
    private static final int LIFTED_ONE_OF = 200;

    private static final int DENIALS = 12;
    private static final int MOST_RUNS = 10;

    /** What an instance does wrong. */
    enum Fault {
        NONE,
        BLOCKS_AFTER_HALF,
        NEVER_BLOCKS,
        ADMITS_WHILE_BLOCKED
    }

    /** @param scale of the times: on a busy machine the same calls take longer */
    private static Policy policy(int denials, int scale) {
        return Policy.of(
                        "p",
                        Limit.fixedWindow(3, Duration.ofMillis(10 * scale)),
                        Limit.block(
                                denials,
                                Duration.ofMillis(100 * scale),
                                Duration.ofMillis(60 * scale),
                                Duration.ofMillis(200 * scale)))
                .withFailureMode(FailureMode.DENY);
    }

    private static RateLimiter instance(RedisClientKind client, String prefix, Duration maxAge) {
        return Backends.limiter(client.single().prefix(prefix).denialMaxAge(maxAge));
    }

    /** The calls of each key. */
    private static List<List<Seen>> run(Duration maxAge, Duration lasts, Fault fault, int scale) throws Exception {
        String prefix = "block-history-" + RUNS.incrementAndGet();
        try (RateLimiter one = instance(RedisClientKind.REDISSON, prefix, maxAge);
                RateLimiter two = instance(RedisClientKind.LETTUCE, prefix, maxAge)) {
            long end = System.nanoTime() + lasts.toNanos() * scale;
            List<List<Seen>> seen = AtOnce.call(THREADS, i -> {
                // The other one would block all the same.
                Fault ofMine = i < KEYS && fault != Fault.NEVER_BLOCKS ? Fault.NONE : fault;
                return call(i < KEYS ? one : two, policy(denials(ofMine), scale), ofMine, i % KEYS, end);
            });
            List<List<Seen>> ofKeys = new ArrayList<>();
            for (int key = 0; key < KEYS; key++) {
                List<Seen> all = new ArrayList<>(seen.get(key));
                all.addAll(seen.get(key + KEYS));
                ofKeys.add(all);
            }
            return ofKeys;
        }
    }

    private static int denials(Fault fault) {
        return switch (fault) {
            case BLOCKS_AFTER_HALF -> DENIALS / 2;
            case NEVER_BLOCKS -> 1_000_000;
            case NONE, ADMITS_WHILE_BLOCKED -> DENIALS;
        };
    }

    private static List<Seen> call(RateLimiter limiter, Policy policy, Fault fault, int key, long endNanos) {
        PartitionKey client = PartitionKey.of("client" + key);
        List<Seen> seen = new ArrayList<>();
        for (int i = 1; System.nanoTime() < endNanos; i++) {
            LockSupport.parkNanos(100_000);
            long start = System.nanoTime();
            if (key == KEYS - 1 && i % LIFTED_ONE_OF == 0) {
                limiter.reset(policy, client);
                seen.add(new Seen(start, System.nanoTime(), false, false, false, false, 0));
                continue;
            }
            Decision decision = limiter.tryAcquire(policy, client, 1);
            long end = System.nanoTime();
            if (!decision.source().isExact()) {
                continue;
            }
            boolean admits = fault == Fault.ADMITS_WHILE_BLOCKED && decision.blocked() && i % 20 == 0;
            seen.add(new Seen(
                    start,
                    end,
                    admits || decision.allowed(),
                    !admits && !decision.allowed(),
                    !admits && decision.blocked(),
                    decision.source() == Decision.Source.CACHED_DENIAL,
                    decision.outcomes().stream()
                            .filter(LimitOutcome::blocked)
                            .mapToLong(one -> one.retryAfterMicros() * 1_000)
                            .max()
                            .orElse(0)));
        }
        return seen;
    }

    private static List<String> judged(List<List<Seen>> ofKeys, int scale) {
        Limit block = policy(DENIALS, scale).limits().get(1);
        return ofKeys.stream()
                .flatMap(calls -> new BlockHistory(block, calls).faults().stream())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 300})
    void whatBlockedCallersSeeHasAnExplanation(int maxAgeMillis) throws Exception {
        // How many calls there are in a run, and so whether there is a block, depends on what else the machine does.
        for (int i = 0; i < MOST_RUNS; i++) {
            int scale = 1 << i / 2;
            Duration lasts = Duration.ofSeconds(Repeats.of(1, 4));
            List<List<Seen>> ofKeys = run(Duration.ofMillis(maxAgeMillis), lasts, Fault.NONE, scale);
            assertEquals(List.of(), judged(ofKeys, scale));
            if (ofKeys.stream()
                    .allMatch(calls -> calls.stream().anyMatch(Seen::isBlockedByRedis)
                            && calls.stream().anyMatch(Seen::allowed))) {
                return;
            }
        }
        fail("a key was never blocked, or never admitted");
    }

    @Tag("long")
    @ParameterizedTest
    @EnumSource(names = "NONE", mode = EnumSource.Mode.EXCLUDE)
    void aFaultIsFound(Fault fault) throws Exception {
        for (int i = 0; i < MOST_RUNS; i++) {
            int scale = 1 << i / 2;
            // Without a memory, so that each denial is counted at once.
            if (!judged(run(Duration.ZERO, Duration.ofMillis(400), fault, scale), scale)
                    .isEmpty()) {
                return;
            }
        }
        fail("nothing found");
    }
}
