package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An outage is when there is no memory to spare: a call then allocates at most twice what one in this JVM does. */
class AwayCostTest {
    private static final int CALLS = 20_000;
    /** The compiler leaves the charge of a call out, or not. */
    private static final int CHARGE = 48;

    private static final int ROUNDS = 50;
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");

    @ParameterizedTest(name = "{0} limits, {1} instances")
    @CsvSource({"1, 1", "1, 4", "2, 1", "2, 4", "3, 4"})
    void aCallDuringAnOutageAllocatesLittle(int limits, int instances) {
        Limit[] all = new Limit[limits];
        for (int i = 0; i < limits; i++) {
            all[i] = Limit.fixedWindow(4_000_000, Duration.ofDays(i + 1));
        }
        Policy policy = Policy.of("p", all);
        // Nobody listens there.
        RedisBackend away =
                RedisBackend.builder().address("redis://127.0.0.1:1").build();
        try (RateLimiter here = RateLimiters.on(InProcessBackend.create());
                RateLimiter fallback = RateLimiters.builder(away)
                        .fallback(InProcessBackend.create())
                        .instances(instances)
                        .build()) {
            assertEquals(
                    Decision.Source.LOCAL_FALLBACK,
                    fallback.tryAcquire(policy, KEY, 1).source());
            assertEquals(
                    policy, fallback.tryAcquire(policy, KEY, 1).charges().get(0).policy());
            double usual;
            double whileAway;
            int round = 0;
            do {
                // Less than at first, once both are compiled; on a busy machine that takes longer.
                usual = bytes(here, policy);
                whileAway = bytes(fallback, policy);
            } while (whileAway > 2 * usual + CHARGE && ++round < ROUNDS);
            assertTrue(
                    whileAway <= 2 * usual + CHARGE,
                    whileAway + " bytes while Redis is unreachable, " + usual + " in this JVM");
        }
    }

    private static double bytes(RateLimiter limiter, Policy policy) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < CALLS; i++) {
            limiter.tryAcquire(policy, KEY, 1);
        }
        return (double) (threads.getCurrentThreadAllocatedBytes() - before) / CALLS;
    }
}
