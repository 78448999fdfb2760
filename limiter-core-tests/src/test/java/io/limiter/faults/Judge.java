package io.limiter.faults;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.FailureMode;

/** What must be true of each row. */
final class Judge {
    /** Callers that arrive when Redis is known to be unreachable do not wait for it. */
    private static final long LONGEST_MEDIAN_MICROS = 10_000;

    private static final long LONGEST_BACK_MILLIS = 20_000;
    /** Many times the deadline, for a machine that is busy with other work; a call that waits for a time-out takes longer. */
    private static final long LONGEST_CALL_MICROS = 3_000_000;

    private static final long LONGEST_HANG_MICROS = 30_000_000;

    private Judge() {}

    /** On any machine. */
    static void counts(Row row) {
        assertAll(
                row.toString(),
                () -> assertEquals(0, row.exceptions(), "exceptions to callers"),
                () -> assertEquals(0, row.countedTwice(), "permits counted twice"),
                () -> assertEquals(0, row.missing(), "permits that Redis gave and does not hold"),
                () -> assertEquals(0, row.torn(), "calls counted for one of two charges"),
                () -> assertEquals(0, row.wronglyDenied(), "keys denied by Redis with room left"),
                () -> assertEquals(0, row.stale(), "keys denied from memory after a reset"),
                () -> assertTrue(row.blocks().told() > 0, "nobody was blocked"),
                () -> assertEquals(0, row.blocks().early(), "keys blocked before there were enough denials"),
                () -> assertEquals(0, row.blocks().shorter(), "blocks that became shorter"),
                () -> assertTrue(row.byRedisAbove() <= row.byRedisBound(), "admitted by Redis above the limit"),
                () -> assertTrue(row.byShares() <= row.bySharesBound(), "admitted by the shares"),
                () -> assertTrue(row.mode() == FailureMode.ALLOW || row.uncounted() == 0, "passed uncounted"),
                () -> assertEquals(0, row.uncountedBefore(), "passed uncounted while Redis was well"),
                () -> assertTrue(row.worstMicros() < LONGEST_HANG_MICROS, "a call hung"),
                () -> assertTrue(row.backMillis() >= 0, "Redis does not decide again"));
    }

    /** For a machine that does nothing else. */
    static void times(Row row) {
        assertAll(
                row.toString(),
                () -> assertTrue(row.medianMicros() < LONGEST_MEDIAN_MICROS, "half of the calls waited"),
                () -> assertTrue(row.worstMicros() < LONGEST_CALL_MICROS, "a call waited"),
                () -> assertTrue(row.backMillis() < LONGEST_BACK_MILLIS, "Redis decides late"));
    }
}
