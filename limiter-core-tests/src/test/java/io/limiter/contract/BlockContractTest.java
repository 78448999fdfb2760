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
import io.limiter.kit.Looks;
import io.limiter.kit.OnEachBackend;
import io.limiter.kit.OpenBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;

/** What counts for a block and what does not: an attacker must not get around it, and nobody must be blocked by mistake. */
class BlockContractTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final PartitionKey OTHER_KEY = PartitionKey.of("192.0.2.2");
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Limit BLOCK =
            Limit.block(20, Duration.ofMinutes(10), Duration.ofMinutes(15), Duration.ofDays(1));
    private static final Policy LOGIN = policy("login", Limit.fixedWindow(5, HOUR), BLOCK);
    private static final Policy SEARCH = policy("search", Limit.fixedWindow(2, HOUR), BLOCK);

    private static Policy policy(String name, Limit... limits) {
        return Policy.of(name, limits).withFailureMode(FailureMode.DENY);
    }

    private static long leftOfBlock(OpenBackend on, Policy policy, PartitionKey key) {
        List<LimitOutcome> all = Looks.at(on.limiter, policy, key).outcomes();
        return all.get(all.size() - 1).remaining();
    }

    private static void use(OpenBackend on, Policy policy, int times) {
        for (int i = 0; i < times; i++) {
            assertTrue(on.limiter.tryAcquire(policy, KEY, 1).allowed());
        }
    }

    @OnEachBackend
    void theTwentiethDenialBlocksAndSaysSo(OpenBackend on) {
        use(on, LOGIN, 5);
        for (int i = 0; i < 19; i++) {
            Decision denied = on.limiter.tryAcquire(LOGIN, KEY, 1);
            assertFalse(denied.allowed() || denied.blocked());
            assertEquals("login", denied.binding().orElseThrow().limit().name());
        }
        on.time.advance(Duration.ofMinutes(9));
        Decision twentieth = on.limiter.tryAcquire(LOGIN, KEY, 1);
        assertTrue(twentieth.blocked());
        assertEquals(
                List.of("login", "block"),
                twentieth.violated().stream().map(one -> one.limit().name()).toList());
        assertEquals(Duration.ofMinutes(51), twentieth.retryAfter().orElseThrow());
        on.limiter.reset(policy("other", Limit.fixedWindow(1, HOUR)), KEY);
        assertTrue(on.limiter.tryAcquire(LOGIN, OTHER_KEY, 1).allowed(), "another key");
        on.time.advance(Duration.ofMinutes(51));
        assertTrue(on.limiter.tryAcquire(LOGIN, KEY, 1).allowed());
        assertEquals(1, on.limiter.monitor().blocked("login"));
        on.limiter.reset(LOGIN, KEY);
        assertEquals(20, leftOfBlock(on, LOGIN, KEY));
    }

    @OnEachBackend
    void aBlockedKeyIsDeniedAlsoWhereThereIsQuota(OpenBackend on) {
        Policy quick = policy("quick", Limit.fixedWindow(1, Duration.ofMinutes(1)), BLOCK);
        use(on, quick, 1);
        for (int i = 0; i < 20; i++) {
            assertFalse(on.limiter.tryAcquire(quick, KEY, 1).allowed());
        }
        on.time.advance(Duration.ofMinutes(14));
        for (int i = 0; i < 40; i++) {
            assertTrue(on.limiter.tryAcquire(quick, KEY, 1).blocked());
        }
        assertEquals(
                Duration.ofMinutes(1),
                on.limiter.tryAcquire(quick, KEY, 3).binding().stream()
                        .map(one -> Duration.ofNanos(
                                1_000 * on.limiter.tryAcquire(quick, KEY, 1).retryAfterMicros()))
                        .findFirst()
                        .orElseThrow());
        on.limiter.reset(quick, KEY);
        assertTrue(on.limiter.tryAcquire(quick, KEY, 1).allowed(), "a reset lifts it");
    }

    /** The window of the denials is longer than the block: else those of the block would be too old at its end. */
    @OnEachBackend
    void denialsOfABlockedKeyAreNotCountedAndDoNotLengthenIt(OpenBackend on) {
        Policy policy = policy(
                "short",
                Limit.fixedWindow(1, HOUR),
                Limit.block(20, Duration.ofMinutes(10), Duration.ofMinutes(1), HOUR));
        use(on, policy, 1);
        for (int length = 1; length <= 4; length *= 2) {
            for (int i = 0; i < 19; i++) {
                assertFalse(on.limiter.tryAcquire(policy, KEY, 1).blocked(), "denial " + i + " of " + length);
            }
            assertTrue(on.limiter.tryAcquire(policy, KEY, 1).blocked());
            on.time.advance(Duration.ofMinutes(length).minusSeconds(1));
            for (int i = 0; i < 30; i++) {
                assertTrue(on.limiter.tryAcquire(policy, KEY, 1).blocked());
            }
            on.time.advance(Duration.ofSeconds(1));
            assertEquals(20, leftOfBlock(on, policy, KEY));
        }
    }

    @OnEachBackend
    void looksAndCallsForNothingDoNotCountAndRefundsGiveNothingBack(OpenBackend on) {
        Decision taken = on.limiter.tryAcquire(SEARCH, KEY, 1);
        use(on, SEARCH, 1);
        for (int i = 0; i < 30; i++) {
            assertTrue(on.limiter.tryAcquire(SEARCH, KEY, 0).allowed());
            assertFalse(on.look(new Charge(SEARCH, KEY, 1)).allowed());
        }
        assertEquals(20, leftOfBlock(on, SEARCH, KEY));
        for (int i = 0; i < 10; i++) {
            assertFalse(on.limiter.tryAcquire(SEARCH, KEY, 1).allowed());
        }
        assertTrue(on.limiter.refund(taken));
        assertEquals(10, leftOfBlock(on, SEARCH, KEY));
    }

    @OnEachBackend
    void aDenialCountsForThePolicyThatDeniesAndForNoOther(OpenBackend on) {
        use(on, SEARCH, 2);
        for (int i = 0; i < 10; i++) {
            assertFalse(on.takes(new Charge(LOGIN, KEY, 1), new Charge(SEARCH, KEY, 1)));
            assertFalse(on.takes(new Charge(SEARCH, KEY, 1), new Charge(LOGIN, KEY, 1)));
        }
        assertTrue(on.limiter.tryAcquire(SEARCH, KEY, 1).blocked(), "20 denials by search, each counted once");
        assertEquals(20, leftOfBlock(on, LOGIN, KEY));
        assertEquals(5, on.left(LOGIN, KEY), "a call that was denied took nothing");
        on.take(new Charge(LOGIN, KEY, 1), new Charge(SEARCH, KEY, 1));
        assertEquals(20, leftOfBlock(on, LOGIN, KEY), "nor does a block of search count for login");
    }

    @OnEachBackend
    void whatOnlyShadowsBlocksNobody(OpenBackend on) {
        use(on, SEARCH, 2);
        for (int i = 0; i < 30; i++) {
            for (CompletionStage<Decision> counted : on.limiter.acquireEachAsync(
                    List.of(PermitRequest.of(SEARCH, KEY, 1).withShadow()))) {
                assertFalse(counted.toCompletableFuture().join().allowed());
            }
        }
        assertEquals(20, leftOfBlock(on, SEARCH, KEY));
    }

    @OnEachBackend
    void callsThatAreSentTogetherCountEach(OpenBackend on) {
        use(on, SEARCH, 2);
        List<CompletionStage<Decision>> all = new ArrayList<>();
        for (int i = 0; i < 7; i++) {
            all.add(on.limiter.acquireAsync(PermitRequest.of(SEARCH, KEY, 1)));
        }
        all.addAll(on.limiter.acquireEachAsync(Collections.nCopies(3, PermitRequest.of(SEARCH, KEY, 1))));
        all.forEach(one -> assertFalse(one.toCompletableFuture().join().allowed()));
        assertEquals(10, leftOfBlock(on, SEARCH, KEY));
    }

    @OnEachBackend
    void aBlockThatAllowsBindsNothing(OpenBackend on) {
        Policy strict = policy("strict", Limit.fixedWindow(100, HOUR), Limit.block(1, HOUR, HOUR, HOUR));
        Decision allowed = on.limiter.tryAcquire(strict, KEY, 50);
        assertEquals("strict", allowed.binding().orElseThrow().limit().name());
        assertEquals(50, allowed.remaining());
        assertTrue(on.limiter.tryAcquire(strict, KEY, 60).blocked(), "the first denial blocks");
    }
}
