package io.limiter.inprocess;

import io.limiter.TimeSource;

/**
 * Converts a time of the monotonic clock to the wall clock. The difference between the two is kept while it is nearly
 * right: if it were read for each call, the end of a window would move back and forth, and a window could end twice.
 * Thread-safe.
 */
final class WallClock {
    /** A wall clock that is corrected by more than this is followed at once. */
    private static final long TOLERANCE_MICROS = 100_000;

    private final TimeSource time;
    private volatile long aheadMicros;

    WallClock(TimeSource time) {
        this.time = time;
        this.aheadMicros = measured();
    }

    long unixMicros(long now) {
        if (isApart(measured())) {
            follow();
        }
        return now + aheadMicros;
    }

    /** A pause between the two readings looks like a corrected clock, so only what was measured without one is followed. */
    private void follow() {
        long before = time.nowMicros();
        long unix = time.unixMicros();
        long after = time.nowMicros();
        if (after - before <= TOLERANCE_MICROS && isApart(unix - after)) {
            aheadMicros = unix - after;
        }
    }

    private boolean isApart(long measured) {
        return Math.abs(measured - aheadMicros) > TOLERANCE_MICROS;
    }

    private long measured() {
        // In this order a pause in between makes turns too late, never too early, and the next call corrects that.
        return time.unixMicros() - time.nowMicros();
    }
}
