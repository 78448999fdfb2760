package io.limiter.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.Policy;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Limits that a resolver returns for one caller. */
class TenantLimitsTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Policy FREE = Policy.of(
                    "api.free", Limit.slidingList(100, MINUTE), Limit.block(3, MINUTE, MINUTE, MINUTE))
            .withFailureMode(FailureMode.DENY);

    private static Object resolved(Object plan) throws Exception {
        return new TenantLimits("api", FREE, caller -> plan, new ManualTime()).plan("a");
    }

    @Test
    void replaceThoseOfTheDefaultPlan() throws Exception {
        Policy own = (Policy) resolved(Limit.slidingList(7, MINUTE));
        assertEquals("api.free", own.name());
        assertEquals(7, own.limits().get(0).permits());
        assertEquals(FREE.limits().get(0).identity(), own.limits().get(0).identity());
        assertEquals(FREE.penalty(), own.penalty());
        assertEquals(FailureMode.DENY, own.onFailure());
        assertEquals(own, resolved(List.of(Limit.slidingList(7, MINUTE))));
        assertEquals("gold", resolved("gold"));
        assertNull(resolved(null));
    }

    @Test
    void whatCannotBeUsedIsTheDefaultPlan() throws Exception {
        assertNull(resolved(List.of()));
        assertNull(resolved(List.of("7/1m")));
        assertNull(resolved(Arrays.asList(Limit.slidingList(7, MINUTE), null)));
        assertNull(resolved(List.of(Limit.slidingList(7, MINUTE), Limit.slidingList(8, MINUTE))));
        assertNull(resolved(Limit.distinct(3, MINUTE)));
        assertNull(resolved(Limit.allotment(10, 1, MINUTE, null, Instant.parse("2027-01-01T00:00:00Z"))));
    }

    @Test
    void atMostSoManyDifferentOnes() throws Exception {
        ManualTime time = new ManualTime();
        TenantLimits limits =
                new TenantLimits("api", FREE, caller -> Limit.slidingList(Long.parseLong(caller), MINUTE), time);
        for (int i = 1; i <= TenantLimits.MOST; i++) {
            assertNotNull(limits.plan(Integer.toString(i)));
        }
        assertNull(limits.plan("5001"));
        assertSame(limits.plan("7"), limits.plan("7"));
        // Those that no caller has any more make room.
        time.advance(Duration.ofMinutes(50));
        Object used = limits.plan("7");
        assertNull(limits.plan("5001"));
        time.advance(Duration.ofMinutes(11));
        assertNotNull(limits.plan("5001"));
        assertSame(used, limits.plan("7"));
        for (int i = 2_001; i <= 2_998; i++) {
            assertNotNull(limits.plan(Integer.toString(i)));
        }
        assertNull(limits.plan("5002"));
    }
}
