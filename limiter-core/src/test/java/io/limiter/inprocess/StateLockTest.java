package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A state has one holder at a time. */
class StateLockTest {
    @Test
    void aStateThatOneDecisionHasForManyKeysIsUnlockedOnce() throws Exception {
        State shared = new FixedWindowState(null);
        State[] often = new State[1_000];
        Arrays.fill(often, shared);
        AtomicInteger holders = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(4);
        List<Future<?>> all = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            all.add(threads.submit(() -> {
                for (int i = 0; i < 20_000; i++) {
                    State.lockAll(often);
                    most.accumulateAndGet(holders.incrementAndGet(), Math::max);
                    Thread.yield();
                    holders.decrementAndGet();
                    State.unlockAll(often);
                }
            }));
        }
        for (Future<?> each : all) {
            each.get();
        }
        threads.shutdown();
        assertEquals(1, most.get());
    }

    @Test
    void aStateThatWasDroppedDecidesNothing() {
        StateIndex index = new StateIndex();
        Partition partition = new Partition(index);
        Policy policy = Policy.of("p", Limit.fixedWindow(2, Duration.ofSeconds(1)));
        Charge charge = new Charge(policy, PartitionKey.of("a"), 1);
        Limit limit = policy.limits().get(0);
        Capacity.Share share = new Capacity(10).new Share();
        State state = new FixedWindowState(charge.key());
        state.limit = new LimitStates(LimitStates.Name.of(charge, limit), new MemoryShare("p", share, share, share));
        int hash = state.limit.hash(charge.key());
        partition.add(state);
        assertNotNull(state.decide(charge, limit, 5, true));
        assertSame(state, index.find(state.limit, charge.key(), hash));
        List<State> dropped = new ArrayList<>();
        partition.drop(1_000_004, 8, dropped::add);
        assertEquals(List.of(), dropped);
        partition.drop(1_000_005, 8, dropped::add);
        assertEquals(List.of(state), dropped);
        assertNull(index.find(state.limit, charge.key(), hash));
        assertNull(state.decide(charge, limit, 1_000_005, true), "a caller that had found it before");
        assertFalse(state.refund(charge, limit, 1_000_005, 1_000_005));
    }
}
