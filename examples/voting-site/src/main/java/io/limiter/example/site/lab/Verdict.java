package io.limiter.example.site.lab;

import io.limiter.Decision;
import io.limiter.LimitOutcome;

/**
 * The verdict of one algorithm on one call, in milliseconds. Immutable.
 *
 * @param retryAfter time until the call would have been allowed; -1 for never
 * @param reset time until all quota is available again: for a fixed window, its end
 * @param source what decided, as named by {@link Decision.Source}
 */
record Verdict(boolean allowed, long remaining, double retryAfter, double reset, Decision.Source source) {
    static Verdict of(Decision decision) {
        LimitOutcome outcome = decision.binding().orElse(null);
        double reset = outcome == null ? 0 : outcome.resetMicros() / 1_000.0;
        long retry = decision.retryAfterMicros();
        return new Verdict(
                decision.allowed(),
                decision.remaining(),
                retry == LimitOutcome.NEVER ? retry : retry / 1_000.0,
                reset,
                decision.source());
    }
}
