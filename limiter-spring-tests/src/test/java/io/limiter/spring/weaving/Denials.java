package io.limiter.spring.weaving;

import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.time.Duration;

/** A denial to throw. */
final class Denials {
    private Denials() {}

    static Decision any() {
        try (RateLimiter limiter = RateLimiters.on(InProcessBackend.create())) {
            return limiter.tryAcquire(
                    Policy.of("closed", Limit.fixedWindow(0, Duration.ofHours(1))), PartitionKey.global(), 1);
        }
    }
}
