package io.limiter;

/**
 * Where a backend reads the time, in microseconds from an arbitrary origin; only differences are meaningful.
 * Values lie between 0 and {@link #MAX_MICROS}, so that all sums with a period stay exact in Redis' numbers (below
 * 2<sup>53</sup>). Implementations are thread-safe. A test sets its own time with {@link ManualTime}.
 */
@FunctionalInterface
public interface TimeSource {
    /** The latest time that decisions accept: 2<sup>52</sup> microseconds, the year 2112 when counted from 1970. */
    long MAX_MICROS = 1L << 52;

    /** Difference between the wall clock and the monotonic clock, so that values are readable in a debugger. */
    long ORIGIN_MICROS = System.currentTimeMillis() * 1_000 - System.nanoTime() / 1_000;

    /** The time now, in microseconds. */
    long nowMicros();

    /** The time of the wall clock, in microseconds since 1970. Of a test's source, the time that it was set to. */
    default long unixMicros() {
        return nowMicros();
    }

    /** This JVM's monotonic clock ({@link System#nanoTime}), which no change of the wall clock moves. */
    static TimeSource system() {
        return SystemTime.INSTANCE;
    }

    /** The clocks of this machine. */
    enum SystemTime implements TimeSource {
        INSTANCE;

        @Override
        public long nowMicros() {
            return ORIGIN_MICROS + System.nanoTime() / 1_000;
        }

        @Override
        public long unixMicros() {
            return System.currentTimeMillis() * 1_000;
        }
    }
}
