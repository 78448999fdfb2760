package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Denials take memory only of keys that were denied, and a full memory blocks nobody for what others did. */
class BlockMemoryTest {
    private static final Duration DAY = Duration.ofDays(1);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Policy LOGIN = Policy.of("login", Limit.fixedWindow(1, DAY), Limit.block(2, HOUR, HOUR, HOUR));

    private static Decision call(RateLimiter limiter, int key) {
        return limiter.tryAcquire(LOGIN, PartitionKey.of("client " + key), 1);
    }

    @Test
    void onlyDeniedKeysTakeRoomAndAFullMemoryBlocksNobody() {
        ManualTime time = new ManualTime();
        InProcessBackend backend =
                InProcessBackend.builder().maxEntries(20).timeSource(time).build();
        try (RateLimiter limiter = RateLimiters.on(backend)) {
            for (int i = 0; i < 10; i++) {
                assertTrue(call(limiter, i).allowed());
            }
            assertEquals(10, backend.entries());
            for (int i = 0; i < 10; i++) {
                assertFalse(call(limiter, i).allowed());
            }
            assertEquals(20, backend.entries());
            for (int i = 10; i < 20_000; i++) {
                call(limiter, i);
                assertFalse(call(limiter, i).blocked(), "client " + i);
            }
            assertEquals(20, backend.entries());
            assertTrue(call(limiter, 0).blocked());
            // An hour after the end of the block the states of denials may go, those of limits may not.
            time.advance(HOUR.multipliedBy(3));
            for (int i = 0; i < 10; i++) {
                assertFalse(call(limiter, i).blocked());
                assertTrue(call(limiter, i).blocked());
            }
        }
    }

    /** Of any limit of the policy: the others allow the call. */
    @ParameterizedTest
    @EnumSource(
            value = Algorithm.class,
            names = {"SLIDING_LIST", "SLIDING_ZSET", "DISTINCT"})
    void whatIsDeniedForWantOfMemoryBlocksNobody(Algorithm algorithm) {
        InProcessBackend backend =
                InProcessBackend.builder().maxEntries(100).maxStamps(60).build();
        Policy policy = Policy.of(
                        "p",
                        List.of(
                                AnyAlgorithm.limit(algorithm, 100, 86_400_000_000L)
                                        .withName("log"),
                                Limit.fixedWindow(1_000, DAY).withName("wide"),
                                Limit.block(2, HOUR, HOUR, HOUR)))
                .withFailureMode(FailureMode.DENY);
        PartitionKey key = PartitionKey.of("honest");
        try (RateLimiter limiter = RateLimiters.on(backend)) {
            int denied = 0;
            for (int i = 0; i < 100; i++) {
                Decision decision = limiter.tryAcquire(PermitRequest.of(List.of(AnyAlgorithm.charge(policy, key, 1))));
                assertFalse(decision.blocked(), "call " + i);
                denied += decision.allowed() ? 0 : 1;
            }
            assertTrue(denied >= 40, denied + " denied");
        }
    }
}
