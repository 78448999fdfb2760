package io.limiter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.testing.FakeLimiter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * The API leaves room for what is planned: signatures of it compile against today's types without changing one of them. Not
 * the design of these features, only the proof that they fit.
 */
class ApiThatIsPlannedTest {
    private static final Policy CALLS = Policy.of("calls", Limit.fixedWindow(5, Duration.ofMinutes(1)));

    /** Permits that are held until they are settled with what was really used. One decision, and its refund. */
    record Reservation(RateLimiter limiter, Decision decision) implements AutoCloseable {
        static Reservation of(RateLimiter limiter, PermitRequest request) {
            return new Reservation(limiter, limiter.tryAcquire(request));
        }

        /** Keeps that many permits: what is left of the first charge goes back. */
        CompletableFuture<Decision> settle(long used) {
            Charge first = decision.charges().get(0);
            return limiter.refundAsync(List.of(decision), charge -> true)
                    .thenCompose(given -> limiter.acquireAsync(
                            PermitRequest.of(first.policy(), first.key(), used).withMaxWait(Duration.ZERO)));
        }

        @Override
        public void close() {
            limiter.refund(decision);
        }
    }

    /** A limit of calls at the same time needs one more door on {@link Limit}, which returns a kind of its own. */
    interface Doors {
        Limit concurrent(long calls);
    }

    /** Code that gets an outcome uses the words of the kinds that it knows, and the text of the others. */
    static String shown(Limit limit) {
        return limit instanceof TokenBucket bucket
                ? "burst " + bucket.burst()
                : limit instanceof Stock stock ? "each " + stock.each() : limit.toString();
    }

    @Test
    void aReservationIsSettled() {
        FakeLimiter fake = new FakeLimiter();
        PartitionKey key = PartitionKey.of("alice");
        try (Reservation reserved = Reservation.of(fake.limiter(), PermitRequest.of(CALLS, key, 5))) {
            assertTrue(reserved.settle(2).join().allowed());
        }
        assertEquals(List.of(5L, 2L), fake.asked().stream().map(Charge::permits).toList());
        assertEquals(1, fake.refunded().size());
    }

    @Test
    void aKindThatCodeDoesNotKnowIsShownAsText() {
        Doors doors = calls -> Limit.fixedWindow(calls, Duration.ofMinutes(1));
        assertEquals("7/1m fixed", shown(doors.concurrent(7)));
        assertEquals("burst 9", shown(Limit.tokenBucket(3, Duration.ofSeconds(1), 9)));
    }
}
