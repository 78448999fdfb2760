package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.FailureMode;
import io.limiter.Hold;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.Settlement;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.TestedBackend;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Reservations beside charges whose cost is known: one decision, and each ends in its own way. */
class MixedHoldsContractTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Policy TOKENS =
            Policy.of("tokens", Limit.tokenBucket(1_000, HOUR)).withHolds(10).withFailureMode(FailureMode.DENY);
    private static final Policy CALLS =
            Policy.of("calls", Limit.slidingZset(3, HOUR)).withFailureMode(FailureMode.DENY);
    private static final Policy USERS =
            Policy.of("users", Limit.distinct(2, HOUR)).withFailureMode(FailureMode.DENY);

    static Stream<TestedBackend> all() {
        return Backends.all().stream();
    }

    @ParameterizedTest
    @MethodSource("all")
    void eachEndsInItsOwnWay(TestedBackend tested) {
        try (Backend backend = tested.open(new ManualTime());
                RateLimiter limiter = RateLimiters.on(backend)) {
            Hold first = reserve(limiter, 600, "a");
            assertTrue(first.allowed());
            assertEquals(List.of(400L, 2L, 1L), left(limiter));
            assertEquals(Settlement.SETTLED, limiter.settle(first, 100));
            assertEquals(List.of(900L, 2L, 1L), left(limiter));

            Hold second = reserve(limiter, 600, "b");
            assertFalse(limiter.refund(second.decision()), "it is settled instead");
            assertEquals(Settlement.SETTLED, limiter.cancel(second));
            assertEquals(List.of(900L, 2L, 1L), left(limiter));
            assertEquals(Settlement.ENDED, limiter.cancel(second));
            assertEquals(List.of(900L, 2L, 1L), left(limiter), "once only");

            assertFalse(reserve(limiter, 901, "a").allowed());
            assertEquals(List.of(900L, 2L, 1L), left(limiter), "all or nothing");
            assertTrue(reserve(limiter, 1, "a").allowed());
            assertTrue(reserve(limiter, 1, "a").allowed());
            assertFalse(reserve(limiter, 1, "a").allowed());
            assertEquals(List.of(898L, 0L, 1L), left(limiter));
        }
    }

    private static Hold reserve(RateLimiter limiter, long tokens, String user) {
        return limiter.reserve(
                List.of(
                        new Charge(CALLS, KEY, 1),
                        new Charge(TOKENS, KEY, tokens),
                        new Charge(USERS, KEY, 1, null, PartitionKey.of(user))),
                Duration.ofMinutes(1));
    }

    private static List<Long> left(RateLimiter limiter) {
        return Stream.of(TOKENS, CALLS, USERS)
                .map(policy -> limiter.tryAcquire(
                                PermitRequest.of(policy, KEY, 0).withLook())
                        .remaining())
                .toList();
    }
}
