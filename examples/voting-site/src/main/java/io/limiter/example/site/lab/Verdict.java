package io.limiter.example.site.lab;

import io.limiter.Decision;
import io.limiter.LimitOutcome;

/**
 * What one algorithm said to one call, in milliseconds. Immutable.
 *
 * @param retryAfter time until the call would have passed; -1 never
 * @param reset time until all is back: of a fixed window, when it ends
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
