package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which limits a policy with holds may have, and what its charges take of each. */
class ReservablePoliciesTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @Test
    void aLogIsRefusedWithWhatToWrite() {
        for (Limit log : List.of(Limit.slidingList(10_000, MINUTE), Limit.slidingZset(10_000, MINUTE))) {
            Policy policy = Policy.of("tokens", log, Limit.fixedWindow(200_000, Duration.ofDays(1)));
            String message = assertThrows(IllegalArgumentException.class, () -> policy.withHolds(10))
                    .getMessage();
            assertTrue(message.startsWith("RL-181 ") && message.endsWith("write '10000/1m token-bucket'"), message);
        }
        for (Limit other : List.of(
                Limit.distinct(10, MINUTE),
                Limit.allotment(10, 2, MINUTE, null, Instant.parse("2027-11-27T22:00:00Z")))) {
            String message = assertThrows(
                            IllegalArgumentException.class,
                            () -> Policy.of("other", other).withHolds(10))
                    .getMessage();
            assertTrue(message.startsWith("RL-181 ") && message.contains("leave 'holds' out"), message);
        }
    }

    @Test
    void aChargeIsOneCallInFlight() {
        Policy plain = Policy.of("p", Limit.concurrent(20), Limit.tokenBucket(10_000, MINUTE));
        Policy held = plain.withHolds(10);
        PartitionKey key = PartitionKey.of("a");
        for (Limit limit : held.limits()) {
            boolean isInFlight = limit instanceof ConcurrentLimit;
            assertEquals(isInFlight, held.countsCalls(limit));
            assertEquals(isInFlight ? 1 : 4_000, new Charge(held, key, 4_000).permitsOf(limit));
            assertEquals(0, new Charge(held, key, 0).permitsOf(limit));
            assertEquals(4_000, new Charge(plain, key, 4_000).permitsOf(limit));
        }
    }
}
