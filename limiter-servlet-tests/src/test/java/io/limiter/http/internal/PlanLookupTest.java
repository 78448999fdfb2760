package io.limiter.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.TimeSource;
import io.limiter.internal.config.Settings.PlanSettings;
import io.limiter.kit.Await;
import io.limiter.rule.PlanResolver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Plans are cached, looked up again, and never waited for longer than configured. */
class PlanLookupTest {
    private static final Duration WAIT = Duration.ofSeconds(20);
    private static final Duration EXPIRY = Duration.ofMinutes(1);

    private final ManualTime time = new ManualTime();
    private final AtomicInteger lookups = new AtomicInteger();
    private volatile String plan = "gold";
    private volatile @Nullable RuntimeException failure;

    private final PlanResolver resolver = caller -> {
        lookups.incrementAndGet();
        RuntimeException thrown = failure;
        if (thrown != null) {
            throw thrown;
        }
        return caller.startsWith("nobody") ? null : plan;
    };

    /** On threads, as always but in tests, with a database that hangs until the end. */
    private PlanLookup hanging(CountDownLatch end, Duration wait) {
        PlanResolver database = caller -> {
            lookups.incrementAndGet();
            end.await(60, TimeUnit.SECONDS);
            return "gold";
        };
        return new PlanLookup(
                "api", database, settings(wait, 10_000), "gold"::equals, TimeSource.system(), PlanLookup.threads());
    }

    private static PlanSettings settings(Duration wait, int maxEntries) {
        return new PlanSettings(Map.of(), wait, EXPIRY, maxEntries);
    }

    /** On the calling thread, at a fixed time. */
    private PlanLookup lookup(int maxEntries) {
        return new PlanLookup("api", resolver, settings(WAIT, maxEntries), found -> true, time, Runnable::run);
    }

    /** Nobody waits for it. */
    private PlanLookup lookup(Executor threads) {
        return new PlanLookup("api", resolver, settings(Duration.ZERO, 100), found -> true, time, threads);
    }

    /** As a request of a client of its own: it looks the plan up, if that is due, and uses what is known then. */
    private static @Nullable Object plan(PlanLookup plans, String caller) {
        plans.lookUp(caller, caller).join();
        return plans.plan(caller, caller);
    }

    private void awaitLookups(int count) {
        Await.until(count + " lookups", () -> lookups.get() >= count);
    }

    @Test
    void aPlanIsLookedUpOnceUntilItExpires() {
        PlanLookup plans = lookup(100);
        for (int i = 0; i < 100; i++) {
            assertEquals("gold", plan(plans, "ann"));
        }
        assertEquals(1, lookups.get());
        plan = "silver";
        time.advance(EXPIRY);
        assertEquals("silver", plan(plans, "ann"));
        assertEquals(2, lookups.get());
    }

    @Test
    void whatIsKnownServesWhileItIsLookedUpAgain() {
        List<Runnable> waiting = new ArrayList<>();
        PlanLookup plans = lookup(waiting::add);
        assertNull(plan(plans, "ann"));
        waiting.remove(0).run();
        plan = "silver";
        time.advance(EXPIRY);
        assertEquals("gold", plan(plans, "ann"));
        assertEquals("gold", plan(plans, "ann"));
        assertEquals(1, waiting.size());
        waiting.remove(0).run();
        assertEquals("silver", plan(plans, "ann"));
    }

    @Test
    void thatThereIsNoneIsRememberedToo() {
        PlanLookup plans = lookup(100);
        for (int i = 0; i < 100; i++) {
            assertNull(plan(plans, "nobody"));
        }
        assertEquals(1, lookups.get());
    }

    @Test
    void aFailureIsNoPlanAndIsTriedAgainSeldom() {
        failure = new IllegalStateException("on purpose");
        PlanLookup plans = lookup(100);
        for (int second = 0; second < 60; second++) {
            for (int i = 0; i < 50; i++) {
                assertNull(plan(plans, "ann"));
            }
            time.advance(Duration.ofSeconds(1));
        }
        assertEquals(12, lookups.get(), "one in 5 s, of 3000 calls");
        failure = null;
        time.advance(Duration.ofSeconds(5));
        assertEquals("gold", plan(plans, "ann"));
    }

    @Test
    void whatWasFoundStaysWhileLookupsFail() {
        PlanLookup plans = lookup(100);
        assertEquals("gold", plan(plans, "ann"));
        failure = new IllegalStateException("on purpose");
        for (int minute = 1; minute < 20; minute++) {
            time.advance(EXPIRY);
            assertEquals("gold", plan(plans, "ann"), "after " + minute + " expiries");
            assertEquals(1 + minute, lookups.get());
        }
        failure = null;
        plan = "silver";
        time.advance(EXPIRY);
        assertEquals("silver", plan(plans, "ann"));
    }

    @Test
    void nobodyWaitsLongerThanSaid() {
        CountDownLatch end = new CountDownLatch(1);
        PlanLookup plans = hanging(end, Duration.ofMillis(30));
        long began = System.nanoTime();
        assertNull(plan(plans, "ann"));
        long took = (System.nanoTime() - began) / 1_000_000;
        assertTrue(took >= 29 && took < 60_000, "waited " + took + " ms");
        began = System.nanoTime();
        for (int i = 0; i < 10_000; i++) {
            assertNull(plan(plans, "ann"), "the first has waited for all");
        }
        assertTrue(System.nanoTime() - began < 100_000_000_000L);
        awaitLookups(1);
        assertEquals(1, lookups.get());
        end.countDown();
        Await.until("the plan", () -> "gold".equals(plan(plans, "ann")));
    }

    /** A few at once are looked up, some wait, and the others are not looked up at all. */
    @Test
    void aSprayOfCallersIsBoundedWhileTheDatabaseHangs() {
        CountDownLatch end = new CountDownLatch(1);
        PlanLookup plans = hanging(end, Duration.ZERO);
        IntStream.range(0, 5_000).forEach(i -> assertNull(plan(plans, "caller " + i)));
        awaitLookups(4);
        assertEquals(4, lookups.get());
        end.countDown();
    }

    @Test
    void aSprayOfCallersWithoutAPlanDisplacesNoneWithOne() {
        PlanLookup plans = lookup(10);
        assertEquals("gold", plan(plans, "ann"));
        IntStream.range(0, 1_000).forEach(i -> assertNull(plan(plans, "nobody " + i)));
        int before = lookups.get();
        assertEquals("gold", plan(plans, "ann"));
        assertEquals(before, lookups.get());
    }

    @Test
    void aTextThatIsTooLongIsNoCaller() {
        assertNull(plan(lookup(100), "a".repeat(PlanLookup.LONGEST_CALLER + 1)));
        assertEquals(0, lookups.get());
    }

    @Test
    void aMachineWithoutThreadsForAWhileStopsNoLookups() {
        AtomicInteger without = new AtomicInteger(8);
        PlanLookup plans = lookup(task -> {
            if (without.getAndDecrement() > 0) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            task.run();
        });
        for (int i = 0; i < 8; i++) {
            plans.lookUp("caller " + i, "one client").join();
        }
        assertEquals("gold", plan(plans, "ann"));
        assertEquals(1, lookups.get());
        time.advance(Duration.ofSeconds(5));
        plans.lookUp("caller 0", "one client").join();
        assertEquals("gold", plans.plan("caller 0", "one client"), "its share is free again");
    }

    /** Of all that run or wait: two, also while nobody else has any. */
    @Test
    void aClientHasTwoLookupsAtOnce() {
        List<Runnable> waiting = new ArrayList<>();
        PlanLookup plans = lookup(waiting::add);
        for (int i = 0; i < 20; i++) {
            plans.lookUp("caller " + i, "sprayer");
        }
        assertEquals(2, waiting.size());
        assertFalse(plans.isDue("caller 3", "sprayer"));
        plans.lookUp("ann", "customer");
        assertEquals(3, waiting.size());
        waiting.remove(0).run();
        assertTrue(plans.isDue("caller 3", "sprayer"), "one has ended");
    }
}
