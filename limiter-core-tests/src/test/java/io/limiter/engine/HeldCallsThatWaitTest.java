package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that wait for what others hold, and reservations while the backend is away, at a time that the test sets. */
class HeldCallsThatWaitTest {
    private static final PartitionKey KEY = PartitionKey.of("k");
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Policy HOURLY = Policy.of("hourly", Limit.fixedWindow(10, Duration.ofHours(1)))
            .withHolds(10)
            .withFailureMode(FailureMode.DENY);

    private final ManualTimer timer = new ManualTimer();
    private final SettlingBackend backend = new SettlingBackend(timer.time);
    private final RateLimiter limiter = RateLimiters.builder(backend)
            .fallback(InProcessBackend.builder().timeSource(timer.time).build())
            .instances(2)
            .executor(Runnable::run)
            .timer(timer)
            .build();

    private CompletableFuture<Decision> waits() {
        CompletableFuture<Decision> answer =
                limiter.acquireAsync(PermitRequest.of(HOURLY, KEY, 4).withMaxWait(Duration.ofHours(1)));
        assertFalse(answer.isDone());
        return answer;
    }

    /** At once, as it was settled in this JVM. */
    @ParameterizedTest
    @ValueSource(longs = {0, 6})
    void aSettlementWakesThem(long cost) {
        Hold hold = limiter.reserve(HOURLY, KEY, 10, MINUTE);
        CompletableFuture<Decision> answer = waits();
        assertEquals(Settlement.SETTLED, limiter.settle(hold, cost));
        timer.advance(0);
        assertTrue(answer.join().allowed());
    }

    /** A settlement that gives nothing back admits nobody. */
    @Test
    void whatIsUsedWakesNobody() {
        Hold hold = limiter.reserve(HOURLY, KEY, 10, MINUTE);
        CompletableFuture<Decision> answer = waits();
        assertEquals(Settlement.SETTLED, limiter.settle(hold, 10));
        timer.advance(MINUTE.toNanos() / 1_000);
        assertFalse(answer.isDone());
    }

    /** They ask again every 100 ms, as the hold may be one of another instance. */
    @Test
    void theEndOfAHoldWakesThem() {
        limiter.reserve(HOURLY, KEY, 10, MINUTE);
        CompletableFuture<Decision> answer = waits();
        timer.advance(MINUTE.toNanos() / 1_000 - 1);
        assertFalse(answer.isDone());
        timer.advance(100_001);
        assertTrue(answer.isDone());
        assertTrue(answer.join().allowed());
    }

    /** Nothing is held where nobody counts, and what the local share holds is settled in it. */
    @ParameterizedTest
    @EnumSource(FailureMode.class)
    void aReservationKeepsToTheFailureMode(FailureMode mode) {
        Policy policy = HOURLY.withFailureMode(mode);
        limiter.announce(policy);
        backend.isDown = true;
        Hold hold = limiter.reserve(policy, KEY, 4, MINUTE);
        assertEquals(mode != FailureMode.DENY, hold.allowed());
        backend.isDown = false;
        assertEquals(Settlement.SETTLED, limiter.settle(hold, 1_000_000));
        assertEquals(0, backend.settled.size(), "Redis knows nothing of it");
        assertEquals(10, limiter.tryAcquire(policy, KEY, 0).remaining());
        backend.isDown = true;
        boolean sharesAreUsedUp = mode == FailureMode.LOCAL;
        assertEquals(
                mode == FailureMode.ALLOW, limiter.tryAcquire(policy, KEY, 1).allowed());
        assertEquals(sharesAreUsedUp, limiter.tryAcquire(policy, KEY, 1).source() == Decision.Source.LOCAL_FALLBACK);
    }

    /** The hold of a backend that went away meanwhile is settled when it is back, not in the share. */
    @ParameterizedTest
    @EnumSource(FailureMode.class)
    void aSettlementWaitsForItsBackend(FailureMode mode) {
        Policy policy = HOURLY.withFailureMode(mode);
        Hold hold = limiter.reserve(policy, KEY, 8, MINUTE);
        backend.isSilent = true;
        assertEquals(Settlement.PENDING, limiter.settle(hold, 3));
        timer.advance(5_000_000);
        backend.isSilent = false;
        timer.advance(1_000_000);
        assertEquals(7, limiter.tryAcquire(policy, KEY, 0).remaining());
        assertEquals(0, timer.size());
    }
}
