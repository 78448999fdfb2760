package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A state has one holder at a time. */
class StateLockTest {
    @Test
    void statesWithOneGuardHaveOneHolder() throws Exception {
        WallClock clock = new WallClock(TimeSource.system());
        PartitionKey key = PartitionKey.of("a");
        State guard = new FixedWindowState(key, clock);
        List<State> guarded = List.of(guard, new FixedWindowState(key, clock), new TokenBucketState(key));
        guarded.forEach(state -> state.guard = guard);
        AtomicInteger holders = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtOnce.run(4, t -> {
            State mine = guarded.get(t % guarded.size());
            for (int i = 0; i < 1_000; i++) {
                mine.lock();
                most.accumulateAndGet(holders.incrementAndGet(), Math::max);
                Thread.yield();
                holders.decrementAndGet();
                mine.unlock();
            }
        });
        assertEquals(1, most.get());
    }

    @Test
    void allLimitsOfAPolicyAndKeyHaveOneGuard() {
        StateTable table = new StateTable(100, 100, 1, TimeSource.system());
        Limit quick = Limit.fixedWindow(5, Duration.ofSeconds(1));
        Limit slow = Limit.tokenBucket(5, Duration.ofHours(1));
        Limit third = Limit.slidingList(5, Duration.ofHours(2));
        Charge two = new Charge(Policy.of("p", quick, slow), PartitionKey.of("a"), 1);
        Transaction.decide(table, List.of(two), () -> 10, Backend.Mode.TAKE, null);
        State first = find(table, two, quick);
        State second = find(table, two, slow);
        assertSame(first, first.guard);
        assertSame(first, second.guard);
        // The guard is dropped as full again; the new state of its limit has the same lock as the one that was left.
        Charge three = new Charge(Policy.of("p", quick, third, slow), PartitionKey.of("a"), 1);
        table.reclaim(2_000_000);
        assertNull(find(table, two, quick));
        Transaction.decide(table, List.of(three), () -> 2_000_000, Backend.Mode.TAKE, null);
        assertNotSame(first, find(table, three, quick));
        for (Limit limit : List.of(quick, slow, third)) {
            assertSame(first, find(table, three, limit).guard);
        }
        Charge other = new Charge(two.policy(), PartitionKey.of("b"), 1);
        Transaction.decide(table, List.of(other), () -> 2_000_000, Backend.Mode.TAKE, null);
        assertNotSame(first, find(table, other, quick).guard);
    }

    /** As they are after configurations that had one of the limits each. */
    @Test
    void limitsThatWereMadeApartAreDecidedUnderBothLocks() throws Exception {
        TimeSource time = TimeSource.system();
        StateTable table = new StateTable(100, 100, 1, time);
        PartitionKey key = PartitionKey.of("a");
        List<Limit> limits =
                List.of(Limit.fixedWindow(5, Duration.ofMinutes(1)), Limit.fixedWindow(5, Duration.ofHours(1)));
        for (Limit limit : limits) {
            Charge charge = new Charge(Policy.of("p", limit), key, 1);
            Transaction.decide(table, List.of(charge), time, Backend.Mode.TAKE, null);
        }
        Policy both = Policy.of("p", limits.get(0), limits.get(1));
        PolicyStates decider = new PolicyStates(time, table, both);
        for (Limit limit : limits) {
            State state = find(table, new Charge(both, key, 1), limit);
            assertSame(state, state.guard);
            state.lock();
            Thread caller = new Thread(() -> decider.decideNow(key, 1, Backend.Mode.TAKE));
            caller.start();
            // A thread that finds the lock taken sleeps after some tries.
            Await.until(
                    Duration.ofMinutes(10),
                    "the call waits or ends",
                    () -> caller.getState() == Thread.State.TIMED_WAITING || !caller.isAlive());
            assertTrue(caller.isAlive(), "decided without the lock of " + limit);
            state.unlock();
            caller.join();
        }
        assertEquals(2, decider.decideNow(key, 0, Backend.Mode.LOOK).remaining());
    }

    @Test
    void aStateThatWasDroppedDecidesNothing() {
        Policy policy = Policy.of("p", Limit.fixedWindow(2, Duration.ofSeconds(1)));
        Charge charge = new Charge(policy, PartitionKey.of("a"), 1);
        Limit limit = policy.limits().get(0);
        Capacity.Share share = new Capacity(10).new Share();
        State state = new FixedWindowState(charge.key(), new WallClock(TimeSource.system()));
        LimitName name = LimitName.of(charge.policy(), limit);
        state.name = name;
        state.share = new Capacity.Shares("p", share, share, null);
        int hash = name.hash(charge.key());
        StateMap map = new StateMap(1);
        map.add(state);
        assertNotNull(state.decide(policy, charge.key(), 1, limit, 5, () -> 5, true));
        assertSame(state, map.find(name, charge.key(), hash));
        map.drop(1_000_004, 8);
        assertFalse(state.isDropped());
        map.drop(1_000_005, 8);
        assertTrue(state.isDropped());
        assertNull(map.find(name, charge.key(), hash));
        assertNull(
                state.decide(policy, charge.key(), 1, limit, 1_000_005, () -> 1_000_005, true),
                "a caller that had found it before");
        assertFalse(state.end(charge, limit, 1_000_005, () -> 1_000_005, false));
    }

    private static State find(StateTable table, Charge charge, Limit limit) {
        return table.find(LimitName.of(charge.policy(), limit), charge.key());
    }
}
