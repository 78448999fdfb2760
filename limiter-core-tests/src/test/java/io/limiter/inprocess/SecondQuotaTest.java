package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** What a key has used is found again, wherever it is kept: there is never a second quota, nor a refund without effect. */
class SecondQuotaTest extends BoundedBackend {
    private static final Policy DAILY = Policy.of("daily", Limit.fixedWindow(1, Duration.ofDays(1)));
    private static final PartitionKey KEY = PartitionKey.of("k");

    /** Uses up the table for a second. */
    private void fill() {
        Policy made = Policy.of("made", Limit.fixedWindow(1, Duration.ofSeconds(1)));
        assertTrue(takes(made, PartitionKey.global(), 1));
    }

    @Test
    void aKeyKeepsItsSharedStateWhenOthersAreForgotten() {
        start(1, 10);
        fill();
        assertTrue(takes(DAILY, KEY, 1));
        Policy brief = Policy.of("brief", Limit.fixedWindow(1, Duration.ofSeconds(1)));
        assertTrue(takes(brief, KEY, 1));
        assertEquals(2, backend.table.overflow.size());
        time.advance(Duration.ofSeconds(2));
        backend.table.reclaim(time.nowMicros());
        assertEquals(1, backend.table.overflow.size(), "only that of this limit");
        assertFalse(takes(DAILY, KEY, 1));
    }

    @Test
    void aKnownKeyIsFoundWhileTheTableGrows() throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        LimitStates.Name name = LimitStates.Name.of(DAILY, DAILY.limits().get(0));
        int known = 192;
        int keys = Repeats.of(20_000, 100_000);
        try {
            for (int round = 0; round < 3; round++) {
                StateTable table = new StateTable(1_000_000, 1, TimeSource.system());
                AtomicInteger made = new AtomicInteger();
                Future<?> grows = thread.submit(() -> {
                    for (int i = 0; i < keys; i++) {
                        Charge charge = new Charge(DAILY, PartitionKey.of("k" + i), 1);
                        Transaction.decide(table, List.of(charge), TimeSource.system(), Backend.Mode.TAKE);
                        made.set(i);
                    }
                });
                for (int i = 0; !grows.isDone(); i++) {
                    if (made.get() >= known) {
                        assertNotNull(table.find(name, PartitionKey.of("k" + i % known)), "after " + made);
                    }
                }
                grows.get();
            }
        } finally {
            thread.shutdownNow();
        }
    }
}
