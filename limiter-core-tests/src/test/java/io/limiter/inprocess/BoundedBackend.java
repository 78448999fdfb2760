package io.limiter.inprocess;

import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import org.junit.jupiter.api.AfterEach;

/** Tests of a backend with small bounds, on a clock of the test, and floods of keys under one policy. */
abstract class BoundedBackend {
    final ManualTime time = new ManualTime();
    InProcessBackend backend;
    RateLimiter limiter;

    void start(int entries, long stamps) {
        backend = InProcessBackend.builder()
                .timeSource(time)
                .maxEntries(entries)
                .maxStamps(stamps)
                .build();
        limiter = RateLimiters.on(backend);
    }

    @AfterEach
    void close() {
        if (limiter != null) {
            limiter.close();
        }
    }

    boolean takes(Policy policy, PartitionKey key, long permits) {
        return limiter.tryAcquire(policy, key, permits).allowed();
    }

    /** One call each for the keys {@code flood 0}, {@code flood 1} and so on. */
    void flood(Policy policy, int keys) {
        for (int i = 0; i < keys; i++) {
            limiter.tryAcquire(policy, PartitionKey.of("flood " + i), 1);
        }
    }
}
