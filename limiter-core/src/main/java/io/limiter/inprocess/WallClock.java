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
        long measured = measured();
        if (Math.abs(measured - aheadMicros) > TOLERANCE_MICROS) {
            aheadMicros = measured;
        }
        return now + aheadMicros;
    }

    private long measured() {
        // In this order a pause in between makes turns too late, never too early, and the next call corrects that.
        return time.unixMicros() - time.nowMicros();
    }
}
