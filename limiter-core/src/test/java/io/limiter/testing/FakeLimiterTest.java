package io.limiter.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FakeLimiterTest {
    private static final Policy VOTE = Policy.of("vote", Limit.slidingList(3, Duration.ofSeconds(10)));
    private static final PartitionKey KEY = PartitionKey.of("alice");

    private final FakeLimiter fake = new FakeLimiter();
    private final RateLimiter limiter = fake.limiter();

    @Test
    void answersAreThoseThatAreSet() {
        assertTrue(limiter.tryAcquire(VOTE, KEY, 1).allowed());
        fake.deny(Duration.ofSeconds(7));
        Decision denied = limiter.tryAcquire(PermitRequest.of(VOTE, KEY, 2));
        assertFalse(denied.allowed());
        assertEquals(Optional.of(Duration.ofSeconds(7)), denied.retryAfter());
        assertTrue(limiter.tryAcquire(PermitRequest.of(VOTE, KEY, 0).withLook()).allowed());
        fake.allow();
        assertTrue(limiter.tryAcquire(VOTE, KEY, 1).allowed());
        assertEquals(
                List.of(1L, 2L, 0L, 1L),
                fake.asked().stream().map(Charge::permits).toList());
        assertEquals(1, limiter.monitor().denied("vote", Decision.Source.IN_PROCESS));
    }

    @Test
    void failureModesAnswerForABackendThatFails() {
        fake.fail();
        assertEquals(
                Decision.Source.FAILED_OPEN,
                limiter.tryAcquire(VOTE.withFailureMode(FailureMode.ALLOW), KEY, 1)
                        .source());
    }

    @Test
    void refundsAreRemembered() {
        Decision decision = limiter.tryAcquire(VOTE, KEY, 1);
        assertTrue(limiter.refund(decision));
        assertFalse(limiter.refund(decision), "a second time");
        assertEquals(
                List.of(decision.charges()),
                fake.refunded().stream().map(Decision::charges).toList());
    }
}
