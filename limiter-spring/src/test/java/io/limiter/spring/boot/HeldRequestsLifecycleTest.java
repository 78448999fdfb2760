package io.limiter.spring.boot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.http.internal.Holding;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class HeldRequestsLifecycleTest {
    /** A door waits for its answers, for up to 5 seconds. */
    @Test
    void noDoorWaitsForAnotherOneToStop() {
        CyclicBarrier all = new CyclicBarrier(3);
        AtomicInteger stopped = new AtomicInteger();
        List<Holding> doors = Stream.<Holding>generate(() -> new Holding() {
                    @Override
                    public void startHolding() {}

                    @Override
                    public void stopHolding() {
                        try {
                            all.await(30, TimeUnit.SECONDS);
                            stopped.incrementAndGet();
                        } catch (Exception alone) {
                            throw new AssertionError(alone);
                        }
                    }
                })
                .limit(3)
                .toList();
        HeldRequestsLifecycle lifecycle = new HeldRequestsLifecycle(() -> doors);
        lifecycle.start();
        lifecycle.stop();
        assertEquals(3, stopped.get());
    }
}
