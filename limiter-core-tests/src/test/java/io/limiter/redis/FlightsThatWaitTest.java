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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Many callers of two instances that wait for few permits. */
class FlightsThatWaitTest {
    private static final int CALLERS = 30;
    private static final int CALLS = 3;
    private static final int PERMITS = 20;
    private static final long LASTS_MILLIS = 20;

    private static final PartitionKey KEY = PartitionKey.of("key");
    private static final Policy POLICY =
            Policy.of("waits", Limit.concurrent(PERMITS)).withFailureMode(FailureMode.DENY);

    private final String prefix = "flights-wait-" + System.nanoTime();
    private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(2);
    private final AtomicInteger granted = new AtomicInteger();
    private final AtomicInteger inUse = new AtomicInteger();

    private RateLimiter limiter() {
        return RateLimiters.builder(Backends.connected(Backends.single().prefix(prefix)))
                .maxWaiting(10 * CALLERS)
                .build();
    }

    /** One caller: calls again and again, each for some time. */
    private CompletableFuture<Void> call(RateLimiter limiter, int left) {
        return limiter.enterAsync(PermitRequest.of(POLICY, KEY, 1).withMaxWait(Duration.ofMinutes(2)))
                .thenCompose(call -> {
                    assertTrue(call.allowed(), () -> "not granted: " + call);
                    granted.incrementAndGet();
                    assertTrue(inUse.incrementAndGet() <= PERMITS, "more are in flight than there are permits");
                    CompletableFuture<Void> ended = new CompletableFuture<>();
                    timer.schedule(() -> end(call, ended), LASTS_MILLIS, TimeUnit.MILLISECONDS);
                    return ended;
                })
                .thenCompose(none -> left == 1 ? CompletableFuture.completedFuture(null) : call(limiter, left - 1));
    }

    private void end(InFlight call, CompletableFuture<Void> ended) {
        inUse.decrementAndGet();
        call.close();
        ended.complete(null);
    }

    /** Each caller is granted all its calls, and never more calls are in flight than there are permits. */
    @Test
    void nobodyWaitsForEver() throws Exception {
        try (RateLimiter one = limiter();
                RateLimiter two = limiter()) {
            List<CompletableFuture<Void>> all = new ArrayList<>();
            InFlight before = one.enter(POLICY, KEY, PERMITS);
            for (int i = 1; i <= CALLERS; i++) {
                all.add(call(one, CALLS));
                all.add(call(two, CALLS));
                // Later ones find a queue.
                int waiting = i;
                Await.until(
                        "both wait",
                        () -> one.monitor().waiting() == waiting
                                && two.monitor().waiting() == waiting);
            }
            before.close();
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(3, TimeUnit.MINUTES);
            assertEquals(2 * CALLERS * CALLS, granted.get());
        } finally {
            timer.shutdownNow();
        }
    }
}
