package io.limiter.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A call that asks for more than a limit can ever grant gets "never", whether the backend answers or not. */
class NeverAllowedTest {
    private static final PartitionKey KEY = PartitionKey.of("a");
    private static final Policy CLOSED = Policy.of("closed", Limit.slidingList(0, Duration.ofMinutes(1)));
    private static final Policy TEN =
            Policy.of("ten", Limit.slidingList(10, Duration.ofMinutes(1)), Limit.tokenBucket(50, Duration.ofDays(1)));

    private static RateLimiter away() {
        Backend closed = InProcessBackend.create();
        closed.close();
        return RateLimiters.builder(closed)
                .fallback(InProcessBackend.create())
                .instances(4)
                .build();
    }

    private static Optional<Duration> retryAfter(FailureMode mode, Object... policiesAndPermits) {
        List<Charge> charges = new ArrayList<>();
        for (int i = 0; i < policiesAndPermits.length; i += 2) {
            charges.add(new Charge(
                    ((Policy) policiesAndPermits[i]).withFailureMode(mode), KEY, (Integer) policiesAndPermits[i + 1]));
        }
        Decision decision = away().tryAcquire(PermitRequest.of(charges));
        assertFalse(decision.allowed());
        assertEquals(
                mode == FailureMode.DENY ? Decision.Source.FAILED_CLOSED : Decision.Source.LOCAL_FALLBACK,
                decision.source());
        return decision.retryAfter();
    }

    @Test
    void whatIsTooMuchForALimitIsNever() {
        for (FailureMode mode : new FailureMode[] {FailureMode.LOCAL, FailureMode.DENY}) {
            assertEquals(Optional.empty(), retryAfter(mode, CLOSED, 1), mode + ": a limit of 0");
            assertEquals(Optional.empty(), retryAfter(mode, TEN, 11), mode + ": 11 of 10");
            assertEquals(Optional.empty(), retryAfter(mode, TEN, 1, CLOSED, 1), mode + ": one of two charges");
        }
    }

    @Test
    void whatIsTooMuchForAShareAloneMayPassLater() {
        Optional<Duration> second = Optional.of(Duration.ofSeconds(1));
        assertEquals(second, retryAfter(FailureMode.LOCAL, TEN, 10));
        assertEquals(second, retryAfter(FailureMode.DENY, TEN, 10));
    }
}
