package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.FailureMode;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Backends;
import io.limiter.kit.HeldRun;
import io.limiter.kit.TestedBackend;
import io.limiter.redis.RedisBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Calls at once whose cost is known afterwards: 100 tokens a minute, each call estimated at 20 and using 20 to 140. What is used is at
 * most the limit and what settlements added to their estimates.
 */
class HeldRaceContractTest {
    private static final long TOKENS = 100;
    private static final long ESTIMATE = 20;
    private static final Duration TTL = Duration.ofSeconds(30);
    private static final int INSTANCES = 12;
    private static final int THREADS_EACH = 8;

    static Stream<Arguments> limitsAndBackends() {
        return limits().flatMap(limit -> Backends.ofEachKind().stream().map(tested -> Arguments.of(limit, tested)));
    }

    static Stream<Limit> limits() {
        return HeldRun.algorithms().stream().map(algorithm -> AnyAlgorithm.limit(algorithm, TOKENS, 60_000_000));
    }

    /** What a call used, and what it may have used. */
    private record Call(boolean allowed, long used) {}

    @ParameterizedTest(name = "{0} on {1}")
    @MethodSource("limitsAndBackends")
    void callsAtOnceUseNoMoreThanWasGranted(Limit limit, TestedBackend tested) throws Exception {
        for (int callers : new int[] {5, 50}) {
            ManualTime time = new ManualTime(1_700_000_000_000_000L);
            try (Backend backend = tested.open(time);
                    RateLimiter limiter = RateLimiters.on(backend)) {
                race(limit, List.of(limiter), callers);
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("limits")
    void twelveInstancesOfBothClientsUseNoMoreEither(Limit limit) throws Exception {
        ManualTime time = new ManualTime(1_700_000_000_000_000L);
        List<RateLimiter> instances = new ArrayList<>();
        List<RedisBackend.Builder> clients = Stream.of(Backends.shared(), Backends.lettuce())
                .map(one -> one.prefix("held-race-" + limit.kind()).timeSource(time))
                .toList();
        try {
            for (int i = 0; i < INSTANCES; i++) {
                instances.add(Backends.limiter(clients.get(i % clients.size())));
            }
            race(limit, instances, INSTANCES * THREADS_EACH);
        } finally {
            instances.forEach(RateLimiter::close);
        }
    }

    private static void race(Limit limit, List<RateLimiter> instances, int callers) throws Exception {
        Policy policy =
                Policy.of("tokens", limit).withFailureMode(FailureMode.DENY).withHolds(100);
        PartitionKey key = PartitionKey.of("caller");
        List<Call> calls = AtOnce.call(callers, i -> {
            long used = ESTIMATE + i * 31 % (140 - ESTIMATE + 1);
            RateLimiter limiter = instances.get(i % instances.size());
            Hold hold = limiter.reserve(policy, key, ESTIMATE, TTL);
            if (!hold.allowed()) {
                return new Call(false, 0);
            }
            assertEquals(Settlement.SETTLED, limiter.settle(hold, used));
            assertEquals(Settlement.ENDED, limiter.settle(hold, 0));
            return new Call(true, used);
        });
        long used = 0;
        long added = 0;
        long allowed = 0;
        for (Call call : calls) {
            allowed += call.allowed ? 1 : 0;
            used += call.used;
            added += call.allowed ? call.used - ESTIMATE : 0;
        }
        assertTrue(used <= TOKENS + added, used + " used, " + added + " of it above estimates");
        assertTrue(allowed >= 1 && allowed <= TOKENS / ESTIMATE, allowed + " calls allowed");
        if (used >= TOKENS) {
            // What was used counts: nobody else gets in.
            assertFalse(instances.get(0).tryAcquire(policy, key, 1).allowed());
        }
    }
}
