package io.limiter.redis;

import static io.limiter.redis.FlightInstances.KEY;
import static io.limiter.redis.FlightInstances.SLOW;
import static io.limiter.redis.FlightInstances.free;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Hold;
import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls in flight on a real Redis: several instances, policies and slots. */
class FlightsOnRedisTest {
    private static final Policy RATE =
            Policy.of("rate", Limit.fixedWindow(1, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);
    private static final Policy TOKENS = Policy.of("tokens", Limit.fixedWindow(100, Duration.ofHours(1)))
            .withHolds(10)
            .withFailureMode(FailureMode.DENY);
    private static final List<Charge> TOGETHER = List.of(new Charge(SLOW, KEY, 1), new Charge(TOKENS, KEY, 50));

    private final FlightInstances instances = new FlightInstances();

    @AfterEach
    void close() {
        instances.close();
    }

    @Test
    void calledOffWhileItIsAskedItHoldsNothing() {
        RateLimiter one = instances.open();
        PermitRequest request = PermitRequest.of(SLOW, KEY, 1);
        for (int i = 0; i < 50; i++) {
            CompletableFuture<InFlight> call = one.enterAsync(request);
            if (!call.cancel(false)) {
                call.join().close();
            }
        }
        Await.until("all are decided", () -> decided(one, "slow") == 50);
        Await.until("nothing is in flight", () -> free(one, SLOW) == 2);
        CompletableFuture<Hold> reserving = one.reserveAsync(TOGETHER, Duration.ofMinutes(1));
        if (!reserving.cancel(false)) {
            one.cancel(reserving.join());
        }
        Await.until("it is decided", () -> decided(one, "tokens") == 1);
        Await.until("nothing is reserved", () -> free(one, TOKENS) == 100);
        Await.until("nothing is in flight", () -> free(one, SLOW) == 2);
        assertEquals(0, one.monitor().inFlight("slow"));
    }

    private static long decided(RateLimiter limiter, String policy) {
        return Stream.of(Decision.Source.values())
                .mapToLong(source -> limiter.monitor().allowed(policy, source)
                        + limiter.monitor().denied(policy, source))
                .sum();
    }

    @Test
    void aDenialIsForgottenWhenACallEndsHere() {
        RateLimiter one = instances.withLongMemory();
        InFlight first = one.enter(SLOW, KEY, 2);
        assertEquals(Decision.Source.REDIS, one.enter(SLOW, KEY, 1).decision().source());
        // It is remembered for a tenth of a second, whatever is set.
        Await.until("a denial from memory", () -> {
            Decision denied = one.enter(SLOW, KEY, 1).decision();
            assertTrue(denied.isRetryUnknown());
            return denied.source() == Decision.Source.CACHED_DENIAL;
        });
        assertTrue(one.refund(first.decision()));
        assertTrue(one.enter(SLOW, KEY, 1).allowed());
    }

    /** Of keys in many slots, which one command may have: what a call holds stands behind the form of its batch. */
    @Test
    void aBatchOfSeveralSlotsMayBeginWithACallThatHoldsNothing() {
        RateLimiter one = instances.inCluster();
        List<PermitRequest> requests = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            PartitionKey key = PartitionKey.of("key" + i);
            requests.add(PermitRequest.of(i % 3 == 0 ? RATE : SLOW, key, 1).withEnd());
        }
        List<Decision> first = one.acquireEachAsync(requests).stream()
                .map(CompletableFuture::join)
                .toList();
        assertTrue(first.stream().allMatch(Decision::allowed), first::toString);
        List<Decision> second = one.acquireEachAsync(requests).stream()
                .map(CompletableFuture::join)
                .toList();
        for (int i = 0; i < 30; i++) {
            boolean isRate = i % 3 == 0;
            assertEquals(!isRate, second.get(i).allowed(), second.get(i)::toString);
            assertTrue(isRate || second.get(i).remaining() == 0, second.get(i)::toString);
        }
        first.forEach(one::end);
        second.forEach(one::end);
        for (PermitRequest request : requests) {
            Charge charge = request.charges().get(0);
            Await.until(
                    "only the rates are used",
                    () -> Looks.left(one, charge.policy(), charge.key()) == (charge.policy() == RATE ? 0 : 2));
        }
        assertEquals(0, one.monitor().inFlight("slow"));
    }

    /** Only what a clock that stepped back has lengthened is cut, and nothing that its instance renews. */
    @Test
    void aShorterHoldLeavesTheOthers() {
        RateLimiter one = instances.open();
        one.enter(SLOW, KEY, 1);
        Policy changed =
                Policy.of("slow", Limit.concurrent(2, Duration.ofSeconds(1))).withFailureMode(FailureMode.DENY);
        for (int i = 0; i < 3; i++) {
            one.enter(changed, KEY, 1).close();
        }
        Duration held = RedisServers.heldFor(instances.prefix);
        // Its next renewal is at most 10 s later.
        assertTrue(held.compareTo(Duration.ofSeconds(15)) > 0, held::toString);
    }
}
