package io.limiter.rule;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.ManualTime;
import io.limiter.kit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
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

    /** On threads, as always but in tests. */
    private PlanLookup onThreads(PlanResolver asked, Duration wait) {
        return new PlanLookup("api", asked, wait, EXPIRY, 10_000, 100_000);
    }

    /** On the calling thread, at a fixed time. */
    private PlanLookup lookup(int maxEntries, int maxPerMinute) {
        return new PlanLookup("api", resolver, WAIT, EXPIRY, maxEntries, maxPerMinute, time, Runnable::run);
    }

    private PlanLookup lookup() {
        return lookup(100, 1_000);
    }

    private void passes(Duration duration) {
        time.advance(duration);
    }

    private void awaitLookups(int count) {
        Await.until(Duration.ofSeconds(20), count + " lookups", () -> lookups.get() >= count);
    }

    @Test
    void aPlanIsLookedUpOnceUntilItExpires() {
        PlanLookup plans = lookup();
        for (int i = 0; i < 100; i++) {
            assertEquals("gold", plans.plan("ann"));
        }
        assertEquals(1, lookups.get());
        plan = "silver";
        passes(EXPIRY);
        assertEquals("silver", plans.plan("ann"));
        assertEquals(2, lookups.get());
    }

    @Test
    void whatIsKnownServesWhileItIsLookedUpAgain() {
        List<Runnable> waiting = new ArrayList<>();
        PlanLookup plans = new PlanLookup("api", resolver, Duration.ZERO, EXPIRY, 100, 100, time, waiting::add);
        assertNull(plans.plan("ann"));
        waiting.remove(0).run();
        plan = "silver";
        passes(EXPIRY);
        assertEquals("gold", plans.plan("ann"));
        assertEquals("gold", plans.plan("ann"));
        assertEquals(1, waiting.size());
        waiting.remove(0).run();
        assertEquals("silver", plans.plan("ann"));
    }

    @Test
    void thatThereIsNoneIsRememberedToo() {
        PlanLookup plans = lookup();
        for (int i = 0; i < 100; i++) {
            assertNull(plans.plan("nobody"));
        }
        assertEquals(1, lookups.get());
    }

    @Test
    void aFailureIsNoPlanAndIsTriedAgainSeldom() {
        failure = new IllegalStateException("on purpose");
        PlanLookup plans = lookup();
        for (int second = 0; second < 60; second++) {
            for (int i = 0; i < 50; i++) {
                assertNull(plans.plan("ann"));
            }
            passes(Duration.ofSeconds(1));
        }
        assertEquals(12, lookups.get(), "one in 5 s, of 3000 calls");
        failure = null;
        passes(Duration.ofSeconds(5));
        assertEquals("gold", plans.plan("ann"));
    }

    @Test
    void whatWasFoundStaysForAWhileWhenLookupsFail() {
        PlanLookup plans = lookup();
        assertEquals("gold", plans.plan("ann"));
        failure = new IllegalStateException("on purpose");
        for (int minute = 1; minute < 10; minute++) {
            passes(EXPIRY);
            assertEquals("gold", plans.plan("ann"), "after " + minute + " expiries");
            assertEquals(1 + minute, lookups.get());
        }
        passes(EXPIRY);
        assertNull(plans.plan("ann"));
    }

    @Test
    void nobodyWaitsLongerThanSaid() {
        CountDownLatch end = new CountDownLatch(1);
        PlanLookup plans = onThreads(
                caller -> {
                    lookups.incrementAndGet();
                    end.await(60, TimeUnit.SECONDS);
                    return "gold";
                },
                Duration.ofMillis(30));
        long began = System.nanoTime();
        assertNull(plans.plan("ann"));
        long took = (System.nanoTime() - began) / 1_000_000;
        assertTrue(took >= 29 && took < 5_000, "waited " + took + " ms");
        began = System.nanoTime();
        for (int i = 0; i < 10_000; i++) {
            assertNull(plans.plan("ann"), "the first has waited for all");
        }
        assertTrue(System.nanoTime() - began < 5_000_000_000L);
        assertEquals(1, lookups.get());
        end.countDown();
        Await.until(Duration.ofSeconds(20), "the plan", () -> "gold".equals(plans.plan("ann")));
    }

    /** A few at once are looked up, some wait, and the others are not looked up at all. */
    @Test
    void aSprayOfCallersIsBoundedWhileTheDatabaseHangs() {
        CountDownLatch end = new CountDownLatch(1);
        PlanLookup plans = onThreads(
                caller -> {
                    lookups.incrementAndGet();
                    end.await(60, TimeUnit.SECONDS);
                    return null;
                },
                Duration.ZERO);
        IntStream.range(0, 5_000).forEach(i -> assertNull(plans.plan("caller " + i)));
        awaitLookups(4);
        assertEquals(4, lookups.get());
        end.countDown();
    }

    @Test
    void onlySoManyLookupsBeginInAMinute() {
        PlanLookup plans = lookup(10_000, 50);
        assertEquals("gold", plans.plan("ann"));
        IntStream.range(0, 5_000).forEach(i -> assertNull(plans.plan("nobody " + i)));
        assertEquals(50, lookups.get());
        assertNull(plans.plan("bob"), "who comes late has the default plan");
        assertEquals("gold", plans.plan("ann"));
        passes(Duration.ofMinutes(1));
        assertEquals("gold", plans.plan("bob"));
    }

    /** Otherwise a flood of unknown callers takes the plans of known ones when these expire. */
    @Test
    void lookupsOfKnownCallersHaveABudgetOfTheirOwn() {
        PlanLookup plans = lookup(10_000, 50);
        assertEquals("gold", plans.plan("ann"));
        passes(EXPIRY);
        IntStream.range(0, 5_000).forEach(i -> assertNull(plans.plan("nobody " + i)));
        assertEquals(51, lookups.get());
        plan = "silver";
        assertEquals("silver", plans.plan("ann"), "looked up again, though the unknown ones have used up theirs");
        assertEquals(52, lookups.get());
    }

    @Test
    void aFloodOfKnownCallersLeavesTheLookupsOfUnknownOnes() {
        PlanLookup plans = lookup(10_000, 50);
        for (int i = 0; i < 60; i++) {
            plans.plan("customer " + i);
            passes(Duration.ofSeconds(2));
        }
        int before = lookups.get();
        passes(EXPIRY);
        IntStream.range(0, 60).forEach(i -> plans.plan("customer " + i));
        assertEquals(before + 50, lookups.get());
        assertEquals("gold", plans.plan("bob"), "a new customer");
    }

    @Test
    void aSprayOfCallersWithoutAPlanDisplacesNoneWithOne() {
        PlanLookup plans = lookup(10, 100_000);
        assertEquals("gold", plans.plan("ann"));
        IntStream.range(0, 1_000).forEach(i -> assertNull(plans.plan("nobody " + i)));
        int before = lookups.get();
        assertEquals("gold", plans.plan("ann"));
        assertEquals(before, lookups.get());
    }

    @Test
    void aTextThatIsTooLongIsNoCaller() {
        assertNull(lookup().plan("a".repeat(PlanLookup.LONGEST_CALLER + 1)));
        assertEquals(0, lookups.get());
    }

    @Test
    void anAsynchronousResolverNeedsNoThread() {
        CompletableFuture<@Nullable String> found = new CompletableFuture<>();
        PlanLookup plans = onThreads(
                new PlanResolver() {
                    @Override
                    public @Nullable String plan(String caller) {
                        throw new AssertionError("the other method is asked");
                    }

                    @Override
                    public CompletionStage<@Nullable String> planAsync(String caller) {
                        lookups.incrementAndGet();
                        return found;
                    }
                },
                Duration.ZERO);
        IntStream.range(0, 20).forEach(i -> assertNull(plans.plan("caller " + i)));
        awaitLookups(20);
        found.complete("gold");
        Await.until(
                Duration.ofSeconds(20),
                "all",
                () -> IntStream.range(0, 20).allMatch(i -> "gold".equals(plans.plan("caller " + i))));
        assertEquals(20, lookups.get());
    }
}
