package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.TestedBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

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

    static Stream<TestedBackend> backends() {
        return Backends.all().stream();
    }

    private static long left(RateLimiter limiter, Policy policy, PartitionKey key) {
        List<io.limiter.LimitOutcome> all = Looks.at(limiter, policy, key).outcomes();
        return all.get(all.size() - 1).remaining();
    }

    private static void use(RateLimiter limiter, Policy policy, int times) {
        for (int i = 0; i < times; i++) {
            assertTrue(limiter.tryAcquire(policy, KEY, 1).allowed());
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void theTwentiethDenialBlocksAndSaysSo(TestedBackend tested) {
        ManualTime time = new ManualTime();
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            use(limiter, LOGIN, 5);
            for (int i = 0; i < 19; i++) {
                Decision denied = limiter.tryAcquire(LOGIN, KEY, 1);
                assertFalse(denied.allowed() || denied.blocked());
                assertEquals("login", denied.binding().orElseThrow().limit().name());
            }
            time.advance(Duration.ofMinutes(9));
            Decision twentieth = limiter.tryAcquire(LOGIN, KEY, 1);
            assertTrue(twentieth.blocked());
            assertEquals(
                    List.of("login", "block"),
                    twentieth.violated().stream().map(one -> one.limit().name()).toList());
            assertEquals(Duration.ofMinutes(51), twentieth.retryAfter().orElseThrow());
            limiter.reset(policy("other", Limit.fixedWindow(1, HOUR)), KEY);
            assertTrue(limiter.tryAcquire(LOGIN, OTHER_KEY, 1).allowed(), "another key");
            time.advance(Duration.ofMinutes(51));
            assertTrue(limiter.tryAcquire(LOGIN, KEY, 1).allowed());
            assertEquals(1, limiter.monitor().blocked("login"));
            limiter.reset(LOGIN, KEY);
            assertEquals(20, left(limiter, LOGIN, KEY));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void aBlockedKeyIsDeniedAlsoWhereThereIsQuota(TestedBackend tested) {
        Policy quick = policy("quick", Limit.fixedWindow(1, Duration.ofMinutes(1)), BLOCK);
        ManualTime time = new ManualTime();
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            use(limiter, quick, 1);
            for (int i = 0; i < 20; i++) {
                assertFalse(limiter.tryAcquire(quick, KEY, 1).allowed());
            }
            time.advance(Duration.ofMinutes(14));
            for (int i = 0; i < 40; i++) {
                assertTrue(limiter.tryAcquire(quick, KEY, 1).blocked());
            }
            assertEquals(
                    Duration.ofMinutes(1),
                    limiter.tryAcquire(quick, KEY, 3).binding().stream()
                            .map(one -> Duration.ofNanos(
                                    1_000 * limiter.tryAcquire(quick, KEY, 1).retryAfterMicros()))
                            .findFirst()
                            .orElseThrow());
            limiter.reset(quick, KEY);
            assertTrue(limiter.tryAcquire(quick, KEY, 1).allowed(), "a reset lifts it");
        }
    }

    /** The window of the denials is longer than the block: else those of the block would be too old at its end. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void denialsOfABlockedKeyAreNotCountedAndDoNotLengthenIt(TestedBackend tested) {
        Policy policy = policy(
                "short",
                Limit.fixedWindow(1, HOUR),
                Limit.block(20, Duration.ofMinutes(10), Duration.ofMinutes(1), HOUR));
        ManualTime time = new ManualTime();
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            use(limiter, policy, 1);
            for (int length = 1; length <= 4; length *= 2) {
                for (int i = 0; i < 19; i++) {
                    assertFalse(limiter.tryAcquire(policy, KEY, 1).blocked(), "denial " + i + " of " + length);
                }
                assertTrue(limiter.tryAcquire(policy, KEY, 1).blocked());
                time.advance(Duration.ofMinutes(length).minusSeconds(1));
                for (int i = 0; i < 30; i++) {
                    assertTrue(limiter.tryAcquire(policy, KEY, 1).blocked());
                }
                time.advance(Duration.ofSeconds(1));
                assertEquals(20, left(limiter, policy, KEY));
            }
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void looksAndCallsForNothingDoNotCountAndRefundsGiveNothingBack(TestedBackend tested) {
        try (Backend backend = tested.open(new ManualTime());
                RateLimiter limiter = RateLimiters.on(backend)) {
            Decision taken = limiter.tryAcquire(SEARCH, KEY, 1);
            use(limiter, SEARCH, 1);
            for (int i = 0; i < 30; i++) {
                assertTrue(limiter.tryAcquire(SEARCH, KEY, 0).allowed());
                assertFalse(limiter.tryAcquire(PermitRequest.of(List.of(new Charge(SEARCH, KEY, 1)))
                                .withLook())
                        .allowed());
            }
            assertEquals(20, left(limiter, SEARCH, KEY));
            for (int i = 0; i < 10; i++) {
                assertFalse(limiter.tryAcquire(SEARCH, KEY, 1).allowed());
            }
            assertTrue(limiter.refund(taken));
            assertEquals(10, left(limiter, SEARCH, KEY));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void aDenialCountsForThePolicyThatDeniesAndForNoOther(TestedBackend tested) {
        try (Backend backend = tested.open(new ManualTime());
                RateLimiter limiter = RateLimiters.on(backend)) {
            use(limiter, SEARCH, 2);
            for (int i = 0; i < 10; i++) {
                assertFalse(limiter.tryAcquire(
                                PermitRequest.of(List.of(new Charge(LOGIN, KEY, 1), new Charge(SEARCH, KEY, 1))))
                        .allowed());
                assertFalse(limiter.tryAcquire(
                                PermitRequest.of(List.of(new Charge(SEARCH, KEY, 1), new Charge(LOGIN, KEY, 1))))
                        .allowed());
            }
            assertTrue(limiter.tryAcquire(SEARCH, KEY, 1).blocked(), "20 denials by search, each counted once");
            assertEquals(20, left(limiter, LOGIN, KEY));
            assertEquals(5, Looks.left(limiter, LOGIN, KEY), "a call that was denied took nothing");
            limiter.tryAcquire(PermitRequest.of(List.of(new Charge(LOGIN, KEY, 1), new Charge(SEARCH, KEY, 1))));
            assertEquals(20, left(limiter, LOGIN, KEY), "nor does a block of search count for login");
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void whatOnlyShadowsBlocksNobody(TestedBackend tested) {
        try (Backend backend = tested.open(new ManualTime());
                RateLimiter limiter = RateLimiters.on(backend)) {
            use(limiter, SEARCH, 2);
            for (int i = 0; i < 30; i++) {
                for (CompletionStage<Decision> counted : limiter.acquireEachAsync(
                        List.of(PermitRequest.of(SEARCH, KEY, 1).withShadow()))) {
                    assertFalse(counted.toCompletableFuture().join().allowed());
                }
            }
            assertEquals(20, left(limiter, SEARCH, KEY));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void callsThatAreSentTogetherCountEach(TestedBackend tested) {
        try (Backend backend = tested.open(new ManualTime());
                RateLimiter limiter = RateLimiters.on(backend)) {
            use(limiter, SEARCH, 2);
            List<CompletionStage<Decision>> all = new ArrayList<>();
            for (int i = 0; i < 7; i++) {
                all.add(limiter.acquireAsync(PermitRequest.of(SEARCH, KEY, 1)));
            }
            all.addAll(limiter.acquireEachAsync(Collections.nCopies(3, PermitRequest.of(SEARCH, KEY, 1))));
            all.forEach(one -> assertFalse(one.toCompletableFuture().join().allowed()));
            assertEquals(10, left(limiter, SEARCH, KEY));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void aBlockThatAllowsBindsNothing(TestedBackend tested) {
        Policy strict = policy("strict", Limit.fixedWindow(100, HOUR), Limit.block(1, HOUR, HOUR, HOUR));
        try (Backend backend = tested.open(new ManualTime());
                RateLimiter limiter = RateLimiters.on(backend)) {
            Decision allowed = limiter.tryAcquire(strict, KEY, 50);
            assertEquals("strict", allowed.binding().orElseThrow().limit().name());
            assertEquals(50, allowed.remaining());
            assertTrue(limiter.tryAcquire(strict, KEY, 60).blocked(), "the first denial blocks");
        }
    }
}
