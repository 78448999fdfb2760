package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Looks;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Reservations of invented keys fill the memory for states, or that for records: those of honest keys go on. */
class InventedKeysTest extends BoundedBackend {
    private static final Duration TTL = Duration.ofMinutes(10);
    private static final int INVENTED = 2_000;
    private static final int HONEST = 500;

    static Stream<Arguments> boundsAndLimits() {
        return Stream.of(
                        Limit.fixedWindow(100_000, Duration.ofHours(1)),
                        Limit.tokenBucket(100_000, Duration.ofHours(1)))
                .flatMap(limit ->
                        Stream.of(Arguments.of(1_000, 1_000_000L, limit), Arguments.of(100_000, 10_000L, limit)));
    }

    private static long left(RateLimiter limiter, Policy policy, PartitionKey key) {
        return Looks.left(limiter, policy, key);
    }

    @ParameterizedTest(name = "{0} states, {1} timestamps, {2}")
    @MethodSource("boundsAndLimits")
    void honestKeysGoOn(int entries, long stamps, Limit limit) {
        Policy policy = Policy.of("tokens", limit).withHolds(100);
        start(entries, stamps);
        for (int i = 0; i < INVENTED; i++) {
            limiter.reserve(policy, PartitionKey.of("invented " + i), 1, TTL);
        }
        assertTrue(backend.stamps() <= stamps, "records are bounded");
        assertTrue(backend.overflowed() > 0, "counted, and logged (RL-401)");
        for (int i = 0; i < HONEST; i++) {
            PartitionKey key = PartitionKey.of("honest " + i);
            long before = left(limiter, policy, key);
            Hold more = limiter.reserve(policy, key, 10, TTL);
            Hold less = limiter.reserve(policy, key, 10, TTL);
            assertTrue(more.allowed() && less.allowed());
            assertEquals(before - 20, left(limiter, policy, key));
            assertEquals(Settlement.SETTLED, limiter.settle(more, 30));
            assertEquals(Settlement.SETTLED, limiter.settle(less, 5));
            assertEquals(Settlement.ENDED, limiter.settle(more, 30), "once");
            assertEquals(before - 40, left(limiter, policy, key), "an estimate stays, and what is above it is charged");
        }
    }

    /** A debt is at most the capacity, as of any settlement. */
    @ParameterizedTest(name = "{0} states, {1} timestamps, {2}")
    @MethodSource("boundsAndLimits")
    void anyCostIsBounded(int entries, long stamps, Limit limit) {
        Policy policy = Policy.of("tokens", limit).withHolds(100);
        start(entries, stamps);
        for (int i = 0; i < INVENTED; i++) {
            limiter.reserve(policy, PartitionKey.of("invented " + i), 1, TTL);
        }
        PartitionKey key = PartitionKey.of("honest");
        Hold hold = limiter.reserve(policy, key, 10, TTL);
        assertEquals(Settlement.SETTLED, limiter.settle(hold, Integer.MAX_VALUE));
        assertEquals(0, left(limiter, policy, key));
        time.advance(Duration.ofHours(1));
        time.advanceMicros(1_000_000);
        assertTrue(takes(policy, key, 1));
        assertFalse(takes(policy, key, 200_000));
    }
}
