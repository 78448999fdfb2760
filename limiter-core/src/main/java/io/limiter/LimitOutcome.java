package io.limiter;

/**
 * What one limit says to one charge. Immutable. Durations are in microseconds.
 *
 * <p>Example: 3 per 10 s as a sliding log, one call at 0 s, 4 s and 9 s, and a fourth at 9.5 s: {@code allowed} false,
 * {@code remaining} 0, {@code retryAfterMicros} and {@code nextMicros} 500 000 (the call of 0 s leaves the log at 10 s),
 * {@code resetMicros} 9 500 000 (the call of 9 s leaves it at 19 s).
 *
 * @param charge the charge asked
 * @param limit the limit, one of the charge's policy
 * @param allowed whether this limit lets the charge pass; the decision is allowed when all of them do
 * @param remaining permits left after this answer
 * @param retryAfterMicros time until this charge would pass if nobody else calls; 0 when allowed, {@link #NEVER} when it
 *     asks for more than the limit can ever give
 * @param nextMicros time until there is more quota than now; 0 when there is all of it
 * @param resetMicros time until all quota is back
 * @param stampMicros what a refund needs to know: of a fixed window its end, else the time that was used. In the
 *     backend's clock; opaque to callers
 */
public record LimitOutcome(
        Charge charge,
        Limit limit,
        boolean allowed,
        long remaining,
        long retryAfterMicros,
        long nextMicros,
        long resetMicros,
        long stampMicros) {
    /** The {@code retryAfterMicros} of a charge that can never pass. */
    public static final long NEVER = -1;
}
