package io.limiter;

/** The monotonic clock, with the wall clock at class loading as its origin so that values are readable in a debugger. */
enum SystemTime implements TimeSource {
    INSTANCE;

    private final long originNanos = System.nanoTime();
    private final long originMicros = System.currentTimeMillis() * 1_000;

    @Override
    public long nowMicros() {
        return originMicros + (System.nanoTime() - originNanos) / 1_000;
    }
}
