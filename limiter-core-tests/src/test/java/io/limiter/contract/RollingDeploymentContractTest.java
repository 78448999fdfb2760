package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.OnEachBackend;
import io.limiter.kit.OpenBackend;
import io.limiter.kit.Repeats;
import java.time.Duration;

/**
 * Two nodes with different limits of one token bucket call in turn, as while a new version is rolled out: what is admitted
 * is at any time at least what the lesser limit alone would have granted, and at most what the greater one would.
 */
class RollingDeploymentContractTest {
    private static final Duration STEP = Duration.ofMillis(100);
    private static final int MINUTES = Repeats.of(2, 10);
    private static final PartitionKey CLIENT = PartitionKey.of("192.0.2.1");

    @OnEachBackend
    void whatIsAdmittedLiesBetweenTheTwoLimits(OpenBackend on) {
        Policy lesser = policy(10);
        Policy greater = policy(20);
        try (Alone least = new Alone(lesser);
                Alone most = new Alone(greater)) {
            long admitted = 0;
            for (int call = 0; call <= Duration.ofMinutes(MINUTES).dividedBy(STEP); call++) {
                admitted += on.limiter
                                .tryAcquire(call % 2 == 0 ? lesser : greater, CLIENT, 1)
                                .allowed()
                        ? 1
                        : 0;
                long atLeast = least.call();
                long atMost = most.call();
                long total = admitted;
                assertTrue(
                        atLeast <= total && total <= atMost,
                        () -> "after " + Duration.ofNanos(on.time.nowMicros() * 1_000) + ": " + total
                                + " admitted, outside " + atLeast + " to " + atMost);
                on.time.advance(STEP);
                least.time.advance(STEP);
                most.time.advance(STEP);
            }
            assertTrue(most.admitted - least.admitted > 9 * MINUTES, "the two limits barely differ");
        }
    }

    private static Policy policy(int permits) {
        return Policy.of("p", Limit.tokenBucket(permits, Duration.ofMinutes(1)));
    }

    /** What one of the limits admits of the same calls when it is alone. */
    private static final class Alone implements AutoCloseable {
        private final ManualTime time = new ManualTime();
        private final RateLimiter limiter = RateLimiters.on(Backends.inProcess(time));
        private final Policy policy;
        private long admitted;

        Alone(Policy policy) {
            this.policy = policy;
        }

        long call() {
            admitted += limiter.tryAcquire(policy, CLIENT, 1).allowed() ? 1 : 0;
            return admitted;
        }

        @Override
        public void close() {
            limiter.close();
        }
    }
}
