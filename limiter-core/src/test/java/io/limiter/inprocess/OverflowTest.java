package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.Algorithm;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A shared state is kept while anything of it is in use. */
class OverflowTest {
    private static final long NOW = 1_000_000;
    private static final long MINUTE = 60_000_000;
    /** A later call than those that entered. */
    private static final long DECIDED = 2;

    private static final PartitionKey KEY = PartitionKey.of("k");

    private final Capacity.Share stamps = new Capacity(100_000).new Share();
    private final Overflow overflow = Overflow.ofOne(new WallClock(TimeSource.system()));
    private final Policy policy = Policy.of("p", Limit.slidingList(2, Duration.ofMinutes(1)));
    private final Limit limit = policy.limits().get(0);
    private final Charge charge = new Charge(policy, KEY, 1);
    private final LimitStates.Name name = LimitStates.Name.of(charge, limit);

    @Test
    void aKeyFindsWhatItUsedUntilThatIsFullAgain() {
        assertNull(overflow.inUse(name, KEY, NOW, DECIDED));
        State state = overflow.enter(name, KEY, stamps, NOW, DECIDED - 1);
        assertNull(overflow.inUse(name, KEY, NOW, DECIDED), "nothing was charged");
        take(state);
        assertSame(state, overflow.inUse(name, KEY, NOW, DECIDED));
        assertNull(overflow.inUse(name, KEY, NOW + MINUTE, DECIDED));
    }

    @Test
    void sweepingForgetsOnlyWhatIsFullAgain() {
        State state = overflow.enter(name, KEY, stamps, NOW, DECIDED - 1);
        take(state);
        assertFalse(overflow.sweep(NOW + MINUTE - 1));
        assertEquals(NOW + MINUTE, state.fullAtMicros());
        assertFalse(stamps.isUnused());
        assertTrue(overflow.sweep(NOW + MINUTE), "nothing is left in use");
        assertTrue(stamps.isUnused(), "its memory is given back");
        assertSame(state, overflow.enter(name, KEY, stamps, NOW + MINUTE, DECIDED - 1));
    }

    @Test
    void beyondTheLimitsThatHaveTheirOwnAPlaceServesOneLimitAtATime() {
        Overflow ofOthers = Overflow.ofOthers(new WallClock(TimeSource.system()));
        Policy wide = Policy.of("p", Limit.fixedWindow(100, Duration.ofHours(1)));
        Charge other = new Charge(wide, KEY, 1);
        Limit hourly = wide.limits().get(0);
        // So many that all places where a limit of this policy can be are taken.
        for (int i = 0; i < 5_000; i++) {
            PartitionKey key = PartitionKey.of("k" + i);
            if (ofOthers.inUse(name, key, NOW, DECIDED) == null) {
                take(ofOthers.enter(name, key, stamps, NOW, DECIDED - 1));
            }
        }
        State denying = ofOthers.enter(LimitStates.Name.of(other, hourly), KEY, stamps, NOW, DECIDED - 1);
        assertEquals(
                new LimitOutcome(other, hourly, false, 0, MINUTE, MINUTE, MINUTE, NOW + MINUTE),
                outcome(denying.decide(other, hourly, () -> NOW, true)));
        LimitOutcome late = outcome(denying.decide(other, hourly, () -> NOW + 2 * MINUTE, true));
        assertFalse(late.allowed(), "it is kept nowhere, so what it granted would not count");
        assertEquals(1, late.retryAfterMicros());
        State served = ofOthers.enter(LimitStates.Name.of(other, hourly), KEY, stamps, NOW + MINUTE, DECIDED);
        assertEquals(
                new LimitOutcome(other, hourly, true, 99, 0, 60 * MINUTE, 60 * MINUTE, NOW + 61 * MINUTE),
                outcome(served.decide(other, hourly, () -> NOW + MINUTE, true)));
    }

    @Test
    void aPlaceStaysWithTheLimitThatEnteredItUntilTheCallIsDecided() {
        Overflow ofOthers = Overflow.ofOthers(new WallClock(TimeSource.system()));
        LimitStates.Name other = new LimitStates.Name("p", "other", Algorithm.FIXED_WINDOW);
        int denied = 0;
        for (int i = 0; i < 5_000; i++) {
            PartitionKey key = PartitionKey.of("k" + i);
            State first = ofOthers.enter(name, key, stamps, NOW, i);
            State second = ofOthers.enter(other, key, stamps, NOW, i);
            assertSame(first, ofOthers.enter(name, key, stamps, NOW, i));
            denied += second.check(charge, limit, 1, NOW, true) == State.Verdict.GRANTS ? 0 : 1;
        }
        assertTrue(denied > 0 && denied < 500, "a place of both limits denies: " + denied);
    }

    private void take(State state) {
        assertTrue(outcome(state.decide(charge, limit, () -> NOW, true)).allowed());
    }

    private static LimitOutcome outcome(@Nullable Decision decision) {
        return Objects.requireNonNull(decision).outcomes().get(0);
    }
}
