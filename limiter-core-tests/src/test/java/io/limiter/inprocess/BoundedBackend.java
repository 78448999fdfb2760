package io.limiter.inprocess;

import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;

/** Tests of a backend with small bounds, on a clock of the test, and floods of keys under one policy. */
abstract class BoundedBackend {
    final ManualTime time = new ManualTime();

    InProcessBackend backend(int entries, long stamps) {
        return InProcessBackend.builder()
                .timeSource(time)
                .maxEntries(entries)
                .maxStamps(stamps)
                .build();
    }

    /** One call each for the keys {@code flood 0}, {@code flood 1} and so on. */
    static void flood(RateLimiter limiter, Policy policy, int keys) {
        for (int i = 0; i < keys; i++) {
            limiter.tryAcquire(policy, PartitionKey.of("flood " + i), 1);
        }
    }
}
