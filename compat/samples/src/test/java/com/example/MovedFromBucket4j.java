package com.example;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.time.Duration;

public class MovedFromBucket4j {
    // Bucket.builder().addLimit(limit -> limit.capacity(20).refillGreedy(10, Duration.ofMinutes(1))).build()
    private static final Policy API = Policy.of("api", Limit.tokenBucket(10, Duration.ofMinutes(1), 20));

    private final RateLimiter limiter =
            RateLimiters.on(InProcessBackend.builder().build());

    public boolean call(String client) {
        // return bucketOf(client).tryConsume(1);
        return limiter.tryAcquire(API, PartitionKey.of(client), 1).allowed();
    }
}
