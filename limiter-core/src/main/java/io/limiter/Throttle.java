package io.limiter;

import java.util.concurrent.atomic.AtomicLong;

/** Lets one through in a while, such as a line for the log: a flood must not fill the disk too. Thread-safe. */
public final class Throttle {
    private final TimeSource time;
    private final long pauseMicros;
    private final AtomicLong nextMicros = new AtomicLong(Long.MIN_VALUE);

    /** One that lets the first through, and the next after a pause of so many microseconds by this clock. */
    public Throttle(TimeSource time, long pauseMicros) {
        this.time = time;
        this.pauseMicros = pauseMicros;
    }

    /** Passes, if it is time; true for one caller in each pause. */
    public boolean tryPass() {
        long now = time.nowMicros();
        long next = nextMicros.get();
        return now >= next && nextMicros.compareAndSet(next, now + pauseMicros);
    }
}
