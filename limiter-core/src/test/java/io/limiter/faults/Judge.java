package io.limiter.faults;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.FailureMode;

/** What must be true of each row. */
final class Judge {
    private static final long LONGEST_BACK_MILLIS = 20_000;
    /** Many times the deadline, for a machine that is busy with other work; a call that waits for a time-out takes longer. */
    private static final long LONGEST_CALL_MICROS = 3_000_000;

    private Judge() {}

    static void check(Row row) {
        long shares = row.mode() == FailureMode.DENY ? 0 : Load.NARROW_SHARES;
        // A Redis that forgot grants each limit once more.
        long above = row.losesState() ? Load.NARROW_LIMIT : 0;
        assertAll(
                row.toString(),
                () -> assertEquals(0, row.exceptions(), "exceptions to callers"),
                () -> assertEquals(0, row.countedTwice(), "permits counted twice"),
                () -> assertEquals(0, row.missing(), "permits that Redis gave and does not hold"),
                () -> assertEquals(0, row.torn(), "calls counted for one of two charges"),
                () -> assertEquals(0, row.wronglyDenied(), "keys denied by Redis with room left"),
                () -> assertTrue(row.byRedisAbove() <= above, "admitted by Redis above the limit"),
                () -> assertTrue(row.byShares() <= shares, "admitted by the shares"),
                () -> assertTrue(row.mode() == FailureMode.ALLOW || row.uncounted() == 0, "passed uncounted"),
                () -> assertEquals(0, row.uncountedBefore(), "passed uncounted while Redis was well"),
                () -> assertTrue(row.worstMicros() < LONGEST_CALL_MICROS, "a call hung"),
                () -> assertTrue(
                        row.backMillis() >= 0 && row.backMillis() < LONGEST_BACK_MILLIS,
                        "Redis does not decide again"));
    }
}
