package io.limiter.inprocess;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import java.time.Duration;
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
        assertEquals(2, backend.table.sharedEntries.used());
        time.advance(Duration.ofSeconds(2));
        backend.table.reclaim(time.nowMicros());
        assertEquals(1, backend.table.sharedEntries.used(), "only that of this limit");
        assertFalse(takes(DAILY, KEY, 1));
    }
}
