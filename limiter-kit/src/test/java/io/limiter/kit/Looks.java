package io.limiter.kit;

import io.limiter.Decision;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;

/** What a look at a key says, which takes nothing. */
public final class Looks {
    private Looks() {}

    public static Decision at(RateLimiter limiter, Policy policy, PartitionKey key) {
        return limiter.tryAcquire(PermitRequest.of(policy, key, 0).withLook());
    }

    /** The permits of the limit that has the fewest. */
    public static long left(RateLimiter limiter, Policy policy, PartitionKey key) {
        return at(limiter, policy, key).remaining();
    }
}
