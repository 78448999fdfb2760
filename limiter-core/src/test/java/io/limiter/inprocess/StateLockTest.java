package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;

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
}
