package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** A shared state is kept from the moment at which a call finds it until the call is decided, charged or not. */
class OverflowTest {
    private static final long NOW = 1_000_000;

    private final Capacity.Share stamps = new Capacity(100).newShare();
    private final Overflow overflow = new Overflow(false);
    private final Policy policy = Policy.of("p", Limit.fixedWindow(1, Duration.ofMinutes(1)));
    private final Ask ask = ask(NOW);

    @Test
    void aStateThatACallHasFoundIsInUseBeforeItIsCharged() {
        State found = overflow.enter(ask, stamps);
        assertTrue(overflow.isInUse(ask(NOW)), "another call could make a state of its own for the key");
        ask.leave();
        assertFalse(overflow.isInUse(ask(NOW)), "nothing was charged");

        overflow.enter(ask, stamps);
        assertTrue(found.decideAlone(ask) && ask.allowed);
        ask.leave();
        assertTrue(overflow.isInUse(ask(NOW)));
        assertFalse(overflow.isInUse(ask(NOW + 60_000_000)));
    }

    @Test
    void sweepingForgetsNothingThatACallIsAboutToCharge() {
        State found = overflow.enter(ask, stamps);
        assertTrue(found.decideAlone(ask));
        overflow.sweep(NOW + 60_000_000);
        assertEquals(NOW + 60_000_000, found.fullAtMicros(), "kept while a call is there");
        ask.leave();
        overflow.sweep(NOW + 60_000_000);
        assertEquals(0, found.fullAtMicros());
        assertTrue(overflow.sweep(NOW), "nothing is left in use");
    }

    private Ask ask(long now) {
        return new Ask(
                new Charge(policy, PartitionKey.of("k"), 1), policy.limits().get(0), now, true);
    }
}
