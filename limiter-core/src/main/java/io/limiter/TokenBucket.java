package io.limiter;

/** Permits refill continuously, up to a burst. The state is two numbers, whatever the limit is. */
public final class TokenBucket extends Limit {
    private static final long MAX_EXACT = 1L << 52;

    TokenBucket(Head head) {
        super(
                head,
                Long.toString(head.periodMicros()),
                head.burst() == head.permits() ? "" : " burst " + head.burst(),
                "");
        refuseIf(
                permits() == 0 ? burst() != 0 : burst() < 1 || burst() > MAX_PERMITS,
                "a burst of " + burst() + " with " + permits() + " permits: "
                        + (permits() == 0
                                ? "a bucket that never refills denies all, leave the burst out"
                                : "a bucket holds from 1 to " + MAX_PERMITS));
        long parts = periodMicros() / refillDivisor();
        refuseIf(
                burst() > MAX_EXACT / parts,
                "a bucket of " + burst() + " at " + permits() + " per " + periodMicros()
                        + " us can't be counted exactly ("
                        + burst() + " x " + parts
                        + " is above 2^52); use a smaller burst, or permits and a period with a"
                        + " larger common divisor");
    }

    @Override
    TokenBucket with(Head other) {
        return new TokenBucket(other);
    }

    /**
     * The greatest common divisor of permits and period. The refill is {@code permits / divisor} parts of a permit each
     * microsecond, where a permit has {@code periodMicros / divisor} parts.
     */
    public long refillDivisor() {
        return gcd(permits(), periodMicros());
    }

    /** The time in which an empty bucket refills, so that quota by window is its long-term rate. */
    @Override
    public long windowSeconds() {
        if (permits() == 0) {
            return 0;
        }
        long divisor = refillDivisor();
        long parts = burst() * (periodMicros() / divisor);
        long micros = -Math.floorDiv(-parts, permits() / divisor);
        return micros < 1_000_000 ? 0 : -Math.floorDiv(-micros, 1_000_000);
    }

    /** A share of the burst, and as many permits in a period that is as much longer: so the refill stays exact. */
    @Override
    Limit share(long instances) {
        if (permits() == 0) {
            return this;
        }
        long burst = Math.max(1, burst() / instances);
        if (instances <= MAX_PERIOD_MICROS / periodMicros()) {
            return with(head().counting(permits(), periodMicros() * instances, burst));
        }
        // The period would be too long. Fewer permits then, and no larger burst than can be counted exactly.
        long share = Math.max(1, permits() / instances);
        long parts = periodMicros() / gcd(share, periodMicros());
        return with(head().counting(share, periodMicros(), Math.min(burst, MAX_EXACT / parts)));
    }

    private static long gcd(long a, long b) {
        return b == 0 ? a : gcd(b, a % b);
    }
}
