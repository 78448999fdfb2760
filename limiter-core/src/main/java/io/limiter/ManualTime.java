package io.limiter;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A time that changes only when it is set: for tests, which set it instead of sleeping. Thread-safe.
 *
 * <pre>{@code
 * ManualTime time = new ManualTime();
 * InProcessBackend backend = InProcessBackend.builder().timeSource(time).build();
 * ...
 * time.advance(Duration.ofSeconds(10));
 * }</pre>
 */
public final class ManualTime implements TimeSource {
    private final AtomicLong micros;

    /** Starts at 1 000 000 000 seconds, so that a test can also step back. */
    public ManualTime() {
        this(1_000_000_000_000_000L);
    }

    /**
     * Starts at the given time.
     *
     * @param startMicros microseconds, from 0 to {@link TimeSource#MAX_MICROS}
     */
    public ManualTime(long startMicros) {
        this.micros = new AtomicLong(checked(startMicros));
    }

    @Override
    public long nowMicros() {
        return micros.get();
    }

    /** Moves on by the duration; a negative one steps back. */
    public void advance(Duration duration) {
        advanceMicros(duration.toNanos() / 1_000);
    }

    /** Moves on by that number of microseconds; a negative number steps back. */
    public void advanceMicros(long delta) {
        micros.updateAndGet(now -> checked(Math.addExact(now, delta)));
    }

    /** Sets the time. */
    public void setMicros(long nowMicros) {
        micros.set(checked(nowMicros));
    }

    private static long checked(long micros) {
        if (micros < 0 || micros > MAX_MICROS) {
            throw new IllegalArgumentException(
                    "time of " + micros + " us is outside 0.." + MAX_MICROS + "; choose a start inside it");
        }
        return micros;
    }
}
