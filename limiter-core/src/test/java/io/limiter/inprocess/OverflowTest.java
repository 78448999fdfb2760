package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
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
    private static final PartitionKey KEY = PartitionKey.of("k");

    private final Capacity.Share stamps = new Capacity(100_000).new Share();
    private final Overflow overflow = new Overflow(new WallClock(TimeSource.system()), Overflow.MOST_STATES);
    private final Policy policy = Policy.of("p", Limit.slidingList(2, Duration.ofMinutes(1)));
    private final Limit limit = policy.limits().get(0);
    private final Charge charge = new Charge(policy, KEY, 1);
    private final LimitStates.Name name = LimitStates.Name.of(charge.policy(), limit);

    @Test
    void aKeyFindsWhatItUsedUntilThatIsFullAgain() {
        assertNull(overflow.inUse(name, KEY, NOW));
        State state = overflow.enter(name, KEY, stamps, NOW);
        assertNull(overflow.inUse(name, KEY, NOW), "nothing was charged");
        take(state);
        assertSame(state, overflow.inUse(name, KEY, NOW));
        assertNull(overflow.inUse(name, KEY, NOW + MINUTE));
    }

    @Test
    void sweepingForgetsOnlyWhatIsFullAgain() {
        State state = overflow.enter(name, KEY, stamps, NOW);
        take(state);
        overflow.sweep(NOW + MINUTE - 1);
        assertEquals(1, overflow.size());
        assertEquals(NOW + MINUTE, state.fullAtMicros());
        assertFalse(stamps.isUnused());
        overflow.sweep(NOW + MINUTE);
        assertEquals(0, overflow.size(), "nothing is left in use");
        assertTrue(stamps.isUnused(), "its memory is given back");
        assertNotSame(state, overflow.enter(name, KEY, stamps, NOW + MINUTE));
    }

    @Test
    void whereNoMoreStatesAreKeptANewKeyIsDeniedForASecond() {
        Overflow small = new Overflow(new WallClock(TimeSource.system()), 1);
        take(small.enter(name, KEY, stamps, NOW));
        Policy wide = Policy.of("p", Limit.fixedWindow(100, Duration.ofHours(1)));
        Charge other = new Charge(wide, KEY, 1);
        Limit hourly = wide.limits().get(0);
        State denying = small.enter(LimitStates.Name.of(other.policy(), hourly), KEY, stamps, NOW);
        long second = 1_000_000;
        assertEquals(
                LimitOutcome.of(other, hourly, false, 0, second, second, second, NOW + second),
                outcome(decide(denying, other, hourly, NOW)));
        LimitOutcome late = outcome(decide(denying, other, hourly, NOW + 2 * MINUTE));
        assertFalse(late.allowed(), "it is kept nowhere, so what it granted would not count");
        assertEquals(1, late.retryAfterMicros());
        small.sweep(NOW + MINUTE);
        State served = small.enter(LimitStates.Name.of(other.policy(), hourly), KEY, stamps, NOW + MINUTE);
        assertEquals(
                LimitOutcome.of(other, hourly, true, 99, 0, 60 * MINUTE, 60 * MINUTE, NOW + 61 * MINUTE),
                outcome(decide(served, other, hourly, NOW + MINUTE)));
    }

    @Test
    void eachLimitHasStatesOfItsOwn() {
        LimitStates.Name other = new LimitStates.Name("p", "other", Algorithm.FIXED_WINDOW);
        for (int i = 0; i < 5_000; i++) {
            PartitionKey key = PartitionKey.of("k" + i);
            State first = overflow.enter(name, key, stamps, NOW);
            assertNotSame(first, overflow.enter(other, key, stamps, NOW));
            assertSame(first, overflow.enter(name, key, stamps, NOW));
        }
        assertTrue(overflow.size() <= 2 * Overflow.STATES, overflow.size() + " states");
    }

    private void take(State state) {
        assertTrue(outcome(decide(state, charge, limit, NOW)).allowed());
    }

    private static @Nullable Decision decide(State state, Charge charge, Limit limit, long now) {
        return state.decide(charge.policy(), charge.key(), charge.permits(), limit, now, () -> now, true);
    }

    private static LimitOutcome outcome(@Nullable Decision decision) {
        return Objects.requireNonNull(decision).outcomes().get(0);
    }
}
