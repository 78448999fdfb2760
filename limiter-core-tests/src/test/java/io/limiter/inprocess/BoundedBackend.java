package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.AnyAlgorithm;
import java.time.Duration;
import java.util.List;
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

    /** With room for one state, which another policy has. */
    void startFull(long stamps) {
        start(1, stamps);
        takes(Policy.of("filler", Limit.fixedWindow(1, Duration.ofDays(30))), PartitionKey.global(), 1);
    }

    boolean takes(Policy policy, PartitionKey key, long permits) {
        return limiter.tryAcquire(policy, key, permits).allowed();
    }

    boolean takes(Charge... charges) {
        return limiter.tryAcquire(PermitRequest.of(List.of(charges))).allowed();
    }

    /** Of a policy of any algorithm. */
    boolean takesAny(Policy policy, PartitionKey key, long permits) {
        return takes(AnyAlgorithm.charge(policy, key, permits));
    }

    /** One call each for the keys {@code flood 0}, {@code flood 1} and so on. */
    void flood(Policy policy, int keys) {
        for (int i = 0; i < keys; i++) {
            limiter.tryAcquire(policy, PartitionKey.of("flood " + i), 1);
        }
    }
}
