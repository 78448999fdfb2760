package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** States that keys share because the table is full: bounded, each of one limit, and kept while anything of them is in use. */
class SharedStatesTest {
    private static final PartitionKey KEY = PartitionKey.of("k");
    private static final Limit BRIEF = Limit.slidingList(2, Duration.ofMinutes(1));
    private static final Limit HOURLY = Limit.tokenBucket(10, Duration.ofHours(1));

    private final ManualTime time = new ManualTime();

    private Decision take(StateTable table, Policy policy, PartitionKey key) {
        return Transaction.decide(table, List.of(new Charge(policy, key, 1)), time, Backend.Mode.TAKE, null);
    }

    private StateTable full(int mostShared) {
        StateTable table = new StateTable(1, 100_000, mostShared, time);
        take(table, Policy.of("filler", Limit.fixedWindow(1, Duration.ofDays(30))), KEY);
        return table;
    }

    @Test
    void aSharedStateIsFoundAndKeptUntilItIsFullAgain() {
        StateTable table = full(100);
        LimitName name = LimitName.of(Policy.of("p", BRIEF), BRIEF);
        assertNull(table.findShared(name, KEY, time));
        assertTrue(take(table, Policy.of("p", BRIEF), KEY).allowed());
        State state = Objects.requireNonNull(table.findShared(name, KEY, time));
        time.advanceMicros(59_999_999);
        table.reclaim(time.nowMicros());
        assertSame(state, table.findShared(name, KEY, time));
        time.advanceMicros(1);
        assertNull(table.findShared(name, KEY, time), "full again, though it is not dropped yet");
        table.reclaim(time.nowMicros());
        assertEquals(0, table.sharedEntries.used());
        assertTrue(take(table, Policy.of("p", BRIEF), KEY).allowed());
        assertNotSame(state, table.findShared(name, KEY, time));
    }

    /** Of any algorithm, and until one of the shared states is full again. */
    @Test
    void whereNoMoreStatesAreSharedANewKeyIsDenied() {
        StateTable table = full(1);
        assertTrue(take(table, Policy.of("p", BRIEF), KEY).allowed());
        Policy hourly = Policy.of("p", HOURLY);
        Policy aligned = Policy.of("q", Limit.fixedWindow(10, Duration.ofHours(1)));
        Policy flights = Policy.of("r", Limit.concurrent(10));
        for (Policy policy : List.of(hourly, aligned, flights)) {
            Decision denied = take(table, policy, KEY);
            assertFalse(denied.allowed(), policy.toString());
            assertTrue(denied.retryAfterMicros() > 0, denied.toString());
        }
        time.advance(Duration.ofMinutes(1));
        assertTrue(take(table, hourly, KEY).allowed());
        assertFalse(take(table, aligned, KEY).allowed());
    }

    @Test
    void eachLimitHasStatesOfItsOwn() {
        StateTable table = full(StateTable.MOST_SHARED);
        Policy both = Policy.of("p", BRIEF, HOURLY);
        for (int i = 0; i < 5_000; i++) {
            take(table, both, PartitionKey.of("k" + i));
        }
        long shared = table.sharedEntries.used();
        assertTrue(shared > 1_500 && shared <= 2 * StateTable.SHARED_STATES, shared + " states");
    }
}
