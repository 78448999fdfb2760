package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.FailureMode;
import io.limiter.Hold;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.Settlement;
import io.limiter.internal.HoldTerms;
import io.limiter.kit.Looks;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Under which limits a hold is settled, and what can't be reserved. */
class SettlingTest {
    private static final PartitionKey KEY = PartitionKey.of("k");
    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final ManualTimer timer = new ManualTimer();
    private final SettlingBackend backend = new SettlingBackend(timer.time);
    private final RateLimiter limiter =
            RateLimiters.builder(backend).timer(timer).build();

    private static Policy bucket(long permits) {
        return of(Limit.tokenBucket(permits, MINUTE));
    }

    private static Policy of(Limit limit) {
        return Policy.of("p", limit).withHolds(100).withFailureMode(FailureMode.DENY);
    }

    private long left(Policy policy) {
        return Looks.left(limiter, policy, KEY);
    }

    /** Of an override or a tenant: the announced limits would fill the bucket again. */
    @Test
    void limitsThatWereNotThePolicysOwnAreKept() {
        limiter.announce(bucket(1_000));
        Policy lowered = bucket(10);
        Hold hold = limiter.reserve(lowered, KEY, 10, MINUTE);
        timer.time.advance(Duration.ofSeconds(6));
        assertEquals(Settlement.SETTLED, limiter.settle(hold, 10));
        assertEquals(0, left(lowered), "what would have refilled while it was full is lost");
    }

    @Test
    void thePolicysOwnLimitsAreThoseInForce() {
        limiter.announce(bucket(1_000));
        Hold hold = limiter.reserve(bucket(1_000), KEY, 10, MINUTE);
        Policy now = bucket(20);
        limiter.announce(now);
        assertEquals(Settlement.SETTLED, limiter.settle(hold, 10));
        assertEquals(20, backend.settled.get(0).outcomes().get(0).limit().permits());
        assertTrue(left(now) <= 20);
    }

    @Test
    void aDeniedHoldHasNothingToSettle() {
        Policy policy = bucket(10);
        limiter.announce(policy);
        Hold denied = limiter.reserve(policy, KEY, 11, MINUTE);
        assertFalse(denied.allowed());
        assertEquals(Settlement.SETTLED, limiter.settle(denied, 9));
        assertEquals(List.of(), backend.settled);
        assertEquals(10, left(policy));
    }

    @Test
    void twoChargesToOneStateAreRefused() {
        Policy policy = bucket(10);
        Charge one = new Charge(policy, KEY, 1);
        assertThrows(IllegalArgumentException.class, () -> limiter.reserve(List.of(), MINUTE));
        assertThrows(IllegalArgumentException.class, () -> limiter.reserve(List.of(one, one), MINUTE));
        assertThrows(IllegalArgumentException.class, () -> limiter.reserveAsync(List.of(one, one), MINUTE));
        assertEquals(10, left(policy));
    }

    @Test
    void idsDiffer() {
        assertEquals(
                1_000,
                IntStream.range(0, 1_000)
                        .mapToObj(i -> HoldTerms.newId())
                        .distinct()
                        .count());
    }
}
