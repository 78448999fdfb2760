package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome.DenialReason;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.TimeSource;
import io.limiter.engine.RateLimiters;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Windows of the calendar by a monotonic clock, beside a wall clock that is corrected. Times in seconds. */
class WallClockTest {
    private static final long SECOND = 1_000_000;
    private static final Policy HOURLY =
            Policy.of("p", Limit.fixedWindow(1, Duration.ofHours(1)).withZone(ZoneId.of("UTC")));

    /** Seconds for which a thread is held up after it has read the wall clock, each time. */
    private final Queue<Long> pauses = new ArrayDeque<>();

    private long now = 50 * SECOND;
    private long wall = 1_790_000_000 * SECOND / (3_600 * SECOND) * (3_600 * SECOND);

    private final RateLimiter limiter = RateLimiters.on(InProcessBackend.builder()
            .timeSource(new TimeSource() {
                @Override
                public long nowMicros() {
                    return now;
                }

                @Override
                public long unixMicros() {
                    long read = wall;
                    pass(pauses.isEmpty() ? 0 : pauses.remove());
                    return read;
                }
            })
            .build());

    @AfterEach
    void close() {
        limiter.close();
    }

    private void pass(long seconds) {
        now += seconds * SECOND;
        wall += seconds * SECOND;
    }

    private Decision take() {
        return limiter.tryAcquire(HOURLY, PartitionKey.global(), 1);
    }

    private static long resetSeconds(Decision decision) {
        return decision.outcomes().get(0).resetMicros() / SECOND;
    }

    @Test
    void aStockOpensAndClosesByTheWallClock() {
        Instant opens = Instant.ofEpochSecond(wall / SECOND + 100);
        Policy sale = Policy.of("sale", Limit.allotment(5, 5, Duration.ZERO, opens, opens.plusSeconds(100)));
        Decision early = limiter.tryAcquire(sale, PartitionKey.global(), 1);
        assertEquals(100 * SECOND, early.outcomes().get(0).retryAfterMicros());
        // It was slow by 40 s.
        wall += 40 * SECOND;
        pass(60);
        Decision bought = limiter.tryAcquire(sale, PartitionKey.global(), 1);
        assertTrue(bought.allowed());
        assertEquals(86_500, resetSeconds(bought));
        pass(100);
        Decision late = limiter.tryAcquire(sale, PartitionKey.global(), 1);
        assertEquals(DenialReason.CLOSED, late.outcomes().get(0).reason());
    }

    @Test
    void aWindowEndsByTheWallClock() {
        pass(600);
        assertEquals(3_000, resetSeconds(take()));
        pass(3_000);
        assertEquals(3_600, resetSeconds(take()));
    }

    /** The system's wall clock shows milliseconds, and a thread can be held up between the two clocks. */
    @Test
    void aClockThatTremblesEndsNoWindowTwice() {
        pass(600);
        assertEquals(3_000, resetSeconds(take()));
        for (int i = 0; i < 100; i++) {
            wall += i % 2 == 0 ? 90_000 : -90_000;
            assertEquals(3_000 * SECOND, take().outcomes().get(0).resetMicros());
        }
    }

    /** All threads share what is measured: a pause of one of them must not move the windows of the others. */
    @Test
    void aPauseBetweenTheTwoReadingsMovesNoWindow() {
        pass(600);
        assertEquals(3_000, resetSeconds(take()));
        for (int i = 0; i < 3; i++) {
            // In its first reading, and also in the second.
            pauses.add(10L);
            pauses.add(i * 10L);
            take();
            PartitionKey other = PartitionKey.of("other " + i);
            assertEquals(3_600 - wall / SECOND % 3_600, resetSeconds(limiter.tryAcquire(HOURLY, other, 1)));
        }
    }

    @Test
    void aClockThatIsSetForwardCutsTheWindow() {
        take();
        wall += 3_000 * SECOND;
        assertEquals(600, resetSeconds(take()));
        pass(600);
        assertTrue(take().allowed());
    }

    /** It is not extended; the window after it ends by the wall clock again. */
    @Test
    void aClockThatIsSetBackLengthensNoWindow() {
        pass(3_000);
        assertEquals(600, resetSeconds(take()));
        wall -= 1_200 * SECOND;
        assertEquals(600, resetSeconds(take()));
        pass(600);
        assertEquals(1_200, resetSeconds(take()));
        pass(1_199);
        assertFalse(take().allowed());
    }
}
