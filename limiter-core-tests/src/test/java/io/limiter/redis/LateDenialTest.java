package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import org.junit.jupiter.api.Test;

/** In a cluster a call that is denied at its second slot, after the first was charged, gives back what it took there. */
class LateDenialTest {
    private static final int CALLERS = 8;
    private static final int ROUNDS = 60;

    @Test
    void whatWasTakenBeforeALateDenialIsGivenBack() throws Exception {
        Policy own = Policy.of("own", Limit.fixedWindow(10_000, Duration.ofHours(1)));
        Policy contended = Policy.of("contended", Limit.fixedWindow(1, Duration.ofHours(1)));
        int[] admitted = new int[CALLERS];
        try (RateLimiter limiter =
                RateLimiters.on(Backends.connected(Backends.redis().cluster(RedisServers.cluster())))) {
            CyclicBarrier together = new CyclicBarrier(CALLERS);
            AtOnce.run(CALLERS, me -> {
                for (int round = 0; round < ROUNDS; round++) {
                    together.await();
                    // All see that the contended key is free; one gets it, the others have taken their own by then.
                    List<Charge> charges = List.of(
                            new Charge(own, PartitionKey.of("caller " + me), 1),
                            new Charge(contended, PartitionKey.of("round " + round), 1));
                    admitted[me] +=
                            limiter.tryAcquire(PermitRequest.of(charges)).allowed() ? 1 : 0;
                }
            });
            int all = 0;
            for (int caller = 0; caller < CALLERS; caller++) {
                long used = 10_000 - Looks.left(limiter, own, PartitionKey.of("caller " + caller));
                assertEquals(admitted[caller], used, "caller " + caller + " is charged for what it got");
                all += admitted[caller];
            }
            assertTrue(all <= ROUNDS, all + " admitted in " + ROUNDS + " rounds");
        }
    }
}
