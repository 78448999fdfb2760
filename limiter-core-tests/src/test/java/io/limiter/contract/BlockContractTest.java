package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Looks;
import io.limiter.kit.OnEachBackend;
import io.limiter.kit.OpenBackend;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** What counts for a block beside plain calls, which the traces and the traffic have: checks do, shadows do not. */
class BlockContractTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Policy LOGIN = Policy.of(
                    "login",
                    Limit.fixedWindow(2, HOUR),
                    Limit.block(3, Duration.ofMinutes(10), Duration.ofMinutes(15), Duration.ofDays(1)))
            .withFailureMode(FailureMode.DENY);
    private static final Policy ALL =
            Policy.of("all", Limit.slidingList(9, HOUR)).withFailureMode(FailureMode.DENY);
    private static final PermitRequest BOTH =
            PermitRequest.of(List.of(new Charge(LOGIN, KEY, 1), new Charge(ALL, KEY, 1)));

    private static List<Long> left(RateLimiter limiter) {
        return Stream.of(LOGIN, ALL)
                .flatMap(policy -> Looks.at(limiter, policy, KEY).outcomes().stream())
                .map(LimitOutcome::remaining)
                .toList();
    }

    @OnEachBackend
    void aCheckThatIsAllowedTakesNothingAndADenialCounts(OpenBackend on) {
        PermitRequest check = BOTH.withCheck();
        for (int i = 0; i < 5; i++) {
            Decision allowed = on.limiter.tryAcquire(check);
            assertTrue(allowed.allowed());
            assertFalse(on.limiter.refund(allowed), "nothing was taken");
        }
        if (on.backend instanceof InProcessBackend own) {
            assertEquals(0, own.entries());
        }
        assertEquals(List.of(2L, 3L, 9L), left(on.limiter));
        Decision.Source source = on.limiter.tryAcquire(BOTH).source();
        assertTrue(on.limiter.tryAcquire(BOTH).allowed());
        assertEquals(2, on.limiter.monitor().allowed("login", source));
        for (int i = 0; i < 2; i++) {
            Decision denied = on.limiter.tryAcquire(check);
            assertFalse(denied.allowed() || denied.blocked());
            assertEquals(HOUR, denied.retryAfter().orElseThrow());
        }
        assertEquals(List.of(0L, 1L, 7L), left(on.limiter));
        assertTrue(on.limiter.tryAcquire(check).blocked(), "the third denial");
        assertEquals(3, on.limiter.monitor().denied("login", source));
        assertEquals(1, on.limiter.monitor().blocked("login"));
        on.time.advance(HOUR);
        assertTrue(on.limiter.tryAcquire(check).allowed());
        assertEquals(List.of(2L, 3L, 9L), left(on.limiter));
    }

    @OnEachBackend
    void whatOnlyShadowsBlocksNobody(OpenBackend on) {
        assertTrue(on.limiter.tryAcquire(LOGIN, KEY, 2).allowed());
        for (int i = 0; i < 30; i++) {
            List<PermitRequest> shadow = List.of(PermitRequest.of(LOGIN, KEY, 1).withShadow());
            assertFalse(on.limiter.acquireEachAsync(shadow).get(0).join().allowed());
        }
        assertEquals(List.of(0L, 3L, 9L), left(on.limiter));
    }

    /** Of two members of one key in a call. The first is allowed, so the state of the block is made for the second one. */
    @OnEachBackend
    void eachDeniedMemberCounts(OpenBackend on) {
        Policy one = Policy.of("one", Limit.distinct(1, HOUR), Limit.block(6, HOUR, HOUR, HOUR));
        PermitRequest two = PermitRequest.of(List.of(member(one, "a"), member(one, "b")));
        for (int left = 5; left > 3; left--) {
            assertFalse(on.limiter.tryAcquire(two).blocked());
            assertEquals(left, Looks.at(on.limiter, one, KEY).outcomes().get(1).remaining());
        }
        assertTrue(on.limiter
                .tryAcquire(PermitRequest.of(List.of(member(one, "c"))))
                .allowed());
        assertFalse(on.limiter.tryAcquire(two).blocked());
        assertEquals(2, Looks.at(on.limiter, one, KEY).outcomes().get(1).remaining(), "both were denied");
        assertTrue(on.limiter.tryAcquire(two).blocked());
    }

    private static Charge member(Policy policy, String name) {
        return new Charge(policy, KEY, 1, null, PartitionKey.of(name));
    }

    @OnEachBackend
    void aBlockThatAllowsBindsNothing(OpenBackend on) {
        Policy strict = Policy.of("strict", Limit.fixedWindow(100, HOUR), Limit.block(1, HOUR, HOUR, HOUR));
        Decision allowed = on.limiter.tryAcquire(strict, KEY, 50);
        assertEquals("strict", allowed.binding().orElseThrow().limit().name());
        assertEquals(50, allowed.remaining());
        assertTrue(on.limiter.tryAcquire(strict, KEY, 60).blocked(), "the first denial blocks");
    }
}
