package io.limiter.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Hold;
import io.limiter.Limit;
import io.limiter.LimiterMonitor.HoldCount;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.Settlement;
import io.limiter.kit.LogLines;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Settlements that get no answer, or an error, and what is counted of them. */
class UnsettledTest {
    private static final PartitionKey KEY = PartitionKey.of("k");
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Policy ONE =
            Policy.of("one", Limit.fixedWindow(100, MINUTE)).withHolds(10);
    private static final Policy TWO = Policy.of("two", Limit.fixedWindow(100, MINUTE), Limit.tokenBucket(200, MINUTE))
            .withHolds(10);

    private final ManualTimer timer = new ManualTimer();
    private final SettlingBackend backend = new SettlingBackend(timer.time);
    private final RateLimiter limiter =
            RateLimiters.builder(backend).timer(timer).build();

    private long count(Policy policy, HoldCount what) {
        return limiter.monitor().holds(policy.name(), what);
    }

    /** Which waiting does not fix, so it is not repeated. */
    @Test
    void anErrorIsAnAnswer() {
        Hold hold = limiter.reserve(ONE, KEY, 10, MINUTE);
        backend.refusal = new BackendException(BackendException.Kind.FAULT, "RL-222 foreign data", null);
        try (LogLines log = new LogLines().ofThreads()) {
            assertEquals(Settlement.UNKNOWN, limiter.settle(hold, 5));
            assertTrue(log.of(Level.WARN, "RL-411").get(0).contains("RL-222 foreign data"), "with the reason");
        }
        assertEquals(0, timer.size());
        assertEquals(1, backend.settled.size());
        assertEquals(1, count(ONE, HoldCount.LOST));
        assertEquals(0, count(ONE, HoldCount.UNKNOWN));
    }

    @Test
    void silenceIsNone() {
        Hold hold = limiter.reserve(TWO, KEY, 10, MINUTE);
        backend.isSilent = true;
        assertEquals(Settlement.PENDING, limiter.settle(hold, 15));
        timer.advance(1_000_000);
        assertEquals(0, count(TWO, HoldCount.ABOVE_ESTIMATE));
        backend.isSilent = false;
        timer.advance(1_000_000);
        assertEquals(85, limiter.tryAcquire(TWO, KEY, 0).remaining());
        assertEquals(1, count(TWO, HoldCount.ABOVE_ESTIMATE), "once for a charge, also in the background");
        assertEquals(0, count(TWO, HoldCount.LOST));
        assertEquals(0, timer.size());
    }

    /** Its answer does not come before the end, so nobody will send it again. */
    @Test
    void whatIsOnItsWayAtTheEndIsLost() {
        Hold hold = limiter.reserve(ONE, KEY, 10, MINUTE);
        backend.isSilent = true;
        limiter.settle(hold, 5);
        backend.isSilent = false;
        backend.holdsBack = true;
        timer.advance(500_000);
        assertEquals(1, backend.heldBack.size(), "it is sent again");
        limiter.close();
        assertEquals(0, count(ONE, HoldCount.LOST));
        backend.answer();
        assertEquals(1, count(ONE, HoldCount.LOST));
        assertEquals(0, timer.size());
    }

    @Test
    void aWorsePartDoesNotHideACostAboveTheEstimate() {
        Hold hold = limiter.reserve(List.of(new Charge(ONE, KEY, 10), new Charge(TWO, KEY, 10)), MINUTE);
        assertEquals(
                Settlement.IGNORED,
                limiter.settle(hold, charge -> charge.policy().equals(ONE) ? -1 : 20));
        assertEquals(0, count(ONE, HoldCount.ABOVE_ESTIMATE));
        assertEquals(1, count(TWO, HoldCount.ABOVE_ESTIMATE));
        limiter.settle(hold, 20);
        assertEquals(1, count(TWO, HoldCount.ABOVE_ESTIMATE), "only what is charged");
    }

    /** A token has only the charges whose policy is here. */
    @Test
    void aHoldEndsByPolicyAndKey() {
        limiter.announce(ONE);
        limiter.announce(TWO);
        String token = limiter.reserve(List.of(new Charge(ONE, KEY, 10), new Charge(TWO, KEY, 10)), MINUTE)
                .token();
        limiter.announce(ONE.withHolds(0));
        assertEquals(Settlement.UNKNOWN, limiter.settle(limiter.hold(token), 10));
        assertEquals(10, limiter.monitor().held("one"));
        assertEquals(0, limiter.monitor().held("two"));
    }
}
