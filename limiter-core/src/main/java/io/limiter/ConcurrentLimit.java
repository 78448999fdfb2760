package io.limiter;

import java.time.Duration;

/**
 * A cap on calls in flight: permits are held from admission to the end of the call. Its period is how long the permits of an
 * instance that died are kept. It has one state whatever that is: other calls are not in flight because a hold lasts longer.
 */
final class ConcurrentLimit extends Limit {
    static final Duration USUAL_HOLD = Duration.ofSeconds(30);

    ConcurrentLimit(Head head) {
        super(head, "calls", head.periodMicros() == micros(USUAL_HOLD) ? "" : " hold " + text(head.periodMicros()), "");
        refuseIf(
                period().compareTo(Duration.ofSeconds(1)) < 0 || period().compareTo(Duration.ofHours(1)) > 0,
                "a hold of " + periodText()
                        + " for calls in flight is outside 1s to 1h; write for how long the permits of"
                        + " an instance that died are kept, such as 30s");
    }

    @Override
    ConcurrentLimit with(Head other) {
        return new ConcurrentLimit(other);
    }

    @Override
    String label() {
        return kind();
    }
}
