package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.FailureMode;
import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Many callers of two instances that wait for few permits. */
class FlightsThatWaitTest {
    private static final int CALLERS = 100;
    private static final int CALLS = 10;
    private static final int PERMITS = 20;
    private static final long LASTS_MILLIS = 100;

    private static final PartitionKey KEY = PartitionKey.of("key");
    private static final Policy POLICY =
            Policy.of("waits", Limit.concurrent(PERMITS)).withFailureMode(FailureMode.DENY);

    private final String prefix = "flights-wait-" + System.nanoTime();
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
    /** When permits were taken and ended: the time, and by how many. */
    private final Queue<long[]> changes = new ConcurrentLinkedQueue<>();

    private volatile long lastsMillis;

    private RateLimiter limiter() {
        return RateLimiters.builder(Backends.connected(RedisBackend.builder()
                        .prefix(prefix)
                        .address(RedisServers.single())
                        .deadline(Duration.ofSeconds(30))))
                .maxWaiting(10 * CALLERS)
                .build();
    }

    /** One caller: calls again and again, each for some time. */
    private CompletableFuture<Void> call(RateLimiter limiter, int caller, int left, Queue<Integer> order) {
        return limiter.enterAsync(PermitRequest.of(POLICY, KEY, 1).withMaxWait(Duration.ofMinutes(2)))
                .thenCompose(call -> {
                    assertTrue(call.allowed(), () -> "not granted: " + call);
                    order.add(caller);
                    changes.add(new long[] {System.nanoTime(), 1});
                    CompletableFuture<Void> ended = new CompletableFuture<>();
                    timer.schedule(() -> end(call, ended), lastsMillis, TimeUnit.MILLISECONDS);
                    return ended;
                })
                .thenCompose(none ->
                        left == 1 ? CompletableFuture.completedFuture(null) : call(limiter, caller, left - 1, order));
    }

    private void end(InFlight call, CompletableFuture<Void> ended) {
        changes.add(new long[] {System.nanoTime(), -1});
        call.close();
        ended.complete(null);
    }

    /** Each caller is granted all its calls, and never more calls are in flight than there are permits. */
    @Test
    void nobodyWaitsForEver() throws Exception {
        run(30, 3, 20);
        used();
    }

    @Tag("long")
    @Test
    void permitsAreInUseInTheOrderOfArrival() throws Exception {
        List<Queue<Integer>> orders = run(CALLERS, CALLS, LASTS_MILLIS);
        for (Queue<Integer> order : orders) {
            // In order of arrival: everybody once, before anybody again.
            // Threads that are woken at the same time may overtake each other.
            List<Integer> granted = List.copyOf(order);
            for (int i = 0; i < CALLERS; i++) {
                assertTrue(Math.abs(granted.get(i) - i) <= PERMITS / 2, granted::toString);
            }
        }
        // How much depends on the machine.
        System.out.printf("permits in use %.1f %% of the time%n", 100 * used());
    }

    private List<Queue<Integer>> run(int callers, int calls, long lastsMillis) throws Exception {
        this.lastsMillis = lastsMillis;
        try (RateLimiter one = limiter();
                RateLimiter two = limiter()) {
            List<Queue<Integer>> orders = List.of(new ConcurrentLinkedQueue<>(), new ConcurrentLinkedQueue<>());
            List<CompletableFuture<Void>> all = new ArrayList<>();
            InFlight before = one.enter(POLICY, KEY, PERMITS);
            for (int i = 0; i < callers; i++) {
                all.add(call(one, i, calls, orders.get(0)));
                all.add(call(two, i, calls, orders.get(1)));
                // Later ones find a queue.
                int waiting = i + 1;
                Await.until(
                        "both wait",
                        () -> one.monitor().waiting() == waiting
                                && two.monitor().waiting() == waiting);
            }
            before.close();
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(3, TimeUnit.MINUTES);
            orders.forEach(order -> assertEquals(callers * calls, order.size()));
            return orders;
        } finally {
            timer.shutdownNow();
        }
    }

    /** The part of the permits that were in use while more calls waited than there are permits. */
    private double used() {
        List<long[]> sorted = new ArrayList<>(changes);
        sorted.sort((a, b) -> Long.compare(a[0], b[0]));
        long begun = sorted.get(PERMITS)[0];
        long last = sorted.get(Math.max(PERMITS, sorted.size() - 8 * PERMITS))[0];
        double sum = 0;
        long now = 0;
        long before = sorted.get(0)[0];
        for (long[] change : sorted) {
            if (before >= begun && change[0] <= last) {
                sum += (double) now * (change[0] - before);
            }
            assertTrue(now <= PERMITS, "in use: " + now);
            now += change[1];
            before = change[0];
        }
        return sum / PERMITS / (last - begun);
    }
}
