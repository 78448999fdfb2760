package io.limiter.internal;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/** Limits how often something happens, such as a log line, so that a flood can't fill the disk. Thread-safe. */
public final class Throttle {
    private final LongSupplier nowMicros;
    private final long pauseMicros;
    private final AtomicLong nextMicros = new AtomicLong(Long.MIN_VALUE);

    /** Admits the first, and the next after a pause of that many microseconds by this clock. */
    public Throttle(LongSupplier nowMicros, long pauseMicros) {
        this.nowMicros = nowMicros;
        this.pauseMicros = pauseMicros;
    }

    /** Admits one an hour of this clock. */
    public static Throttle hourly(LongSupplier nowMicros) {
        return new Throttle(nowMicros, 3_600_000_000L);
    }

    /**
     * As {@link #tryPass} for what happens so often that a look at the clock each time costs too much: about one of 16
     * callers looks. Which one is random, so that threads do not write to the same memory.
     */
    public boolean tryPassOften() {
        return (ThreadLocalRandom.current().nextInt() & 15) == 0 && tryPass();
    }

    /** Returns true for one caller in each pause. */
    public boolean tryPass() {
        long now = nowMicros.getAsLong();
        long next = nextMicros.get();
        return now >= next && nextMicros.compareAndSet(next, now + pauseMicros);
    }
}
