package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.FailureMode;
import io.limiter.Hold;
import io.limiter.Hold.Settlement;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.Algorithm;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.TestedBackend;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Limits and clocks that change while permits are held, and many reservations of one moment: nothing is minted, nothing locked. */
class HeldChangesContractTest {
    private static final PartitionKey KEY = PartitionKey.of("k");
    private static final Duration HOUR = Duration.ofHours(1);

    static Stream<TestedBackend> backends() {
        return Backends.all().stream();
    }

    /** A limiter whose policy is announced anew, as by a reload. */
    private static final class Stage {
        final ManualTime time;
        final RateLimiter limiter;
        Policy policy;

        @SuppressWarnings("NullAway.Init") // the policy, which becomes what the limit says
        Stage(Backend backend, ManualTime time, Limit limit) {
            this.time = time;
            limiter = RateLimiters.on(backend);
            becomes(limit);
        }

        private static Policy of(Limit limit) {
            return Policy.of("p", limit.withName("l")).withHolds(300).withFailureMode(FailureMode.DENY);
        }

        void becomes(Limit limit) {
            policy = of(limit);
            limiter.announce(policy);
        }

        void pass(long seconds) {
            time.advance(Duration.ofSeconds(seconds));
        }

        Hold reserve(long permits, Duration ttl) {
            Hold hold = limiter.reserve(policy, KEY, permits, ttl);
            assertTrue(hold.allowed());
            return hold;
        }

        void settle(Hold hold, long cost) {
            assertEquals(Settlement.SETTLED, limiter.settle(hold, cost));
        }

        boolean takes(long permits) {
            return limiter.tryAcquire(policy, KEY, permits).allowed();
        }

        long left() {
            return Looks.left(limiter, policy, KEY);
        }
    }

    private static void on(TestedBackend tested, Limit limit, Consumer<Stage> test) {
        ManualTime time = new ManualTime();
        try (Backend backend = tested.open(time)) {
            test.accept(new Stage(backend, time, limit));
        }
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void whatRunsOutComesBackAlsoIfThePolicyHasNoHoldsAnyMore(TestedBackend tested) {
        on(tested, Limit.tokenBucket(100, HOUR), stage -> {
            stage.reserve(60, Duration.ofSeconds(60));
            stage.policy = stage.policy.withHolds(0);
            stage.pass(61);
            assertTrue(stage.takes(40));
            assertTrue(stage.takes(59));
        });
    }

    /** What would have refilled while the bucket was full is lost, at any rate. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void aRateThatChangesAndComesBackMintsNothing(TestedBackend tested) {
        Limit quick = Limit.tokenBucket(1_000, Duration.ofMinutes(1));
        Limit slow = Limit.tokenBucket(1_000, Duration.ofHours(100));
        for (long taken : new long[] {1, 401}) {
            on(tested, quick, stage -> {
                Hold hold = stage.reserve(600, HOUR);
                stage.pass(1);
                stage.becomes(slow);
                assertEquals(taken == 1, stage.takes(taken), "granted or denied: the bucket has seen the other rate");
                stage.pass(1_000);
                stage.becomes(quick);
                stage.settle(hold, 600);
                assertTrue(stage.left() <= 402, "1 s of the quick rate has refilled at most 16, not 600");
            });
        }
    }

    /** Where nothing is held any more, or nothing was, a clock that stepped back costs one period, as without holds. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void aClockThatStepsBackCostsAPeriodAtMost(TestedBackend tested) {
        on(tested, Limit.tokenBucket(10, Duration.ofMinutes(1)), stage -> {
            Hold hold = stage.reserve(6, HOUR);
            assertTrue(stage.takes(4));
            stage.time.advance(Duration.ofHours(-10));
            assertFalse(stage.takes(1));
            stage.pass(60 + 24);
            assertEquals(4, stage.left(), "what is not held has refilled");
            assertFalse(stage.takes(5), "the rest is held");
            assertTrue(stage.takes(4));
            stage.settle(hold, 6);
            assertTrue(stage.left() <= 4);
            stage.pass(120);
            assertEquals(10, stage.left());
        });
    }

    /** A clock of Redis steps back; that of a JVM does not. Of a window, which is cut then, nothing comes back before its end. */
    @ParameterizedTest(name = "{0}")
    @MethodSource("backends")
    void aHoldLastsOneTimeMoreAfterAStepBack(TestedBackend tested) {
        for (Limit limit :
                List.of(Limit.fixedWindow(10, Duration.ofMinutes(3)), Limit.tokenBucket(10, Duration.ofMinutes(3)))) {
            on(tested, limit, stage -> {
                Hold hold = stage.reserve(6, Duration.ofMinutes(1));
                stage.time.advance(tested.name().equals("in-process") ? Duration.ZERO : Duration.ofHours(-10));
                assertFalse(stage.takes(5));
                stage.pass(limit.algorithm() == Algorithm.FIXED_WINDOW ? 180 : 110);
                assertTrue(stage.takes(10), "it came back by itself");
                stage.limiter.cancel(hold);
                assertEquals(0, stage.left(), "once");
            });
        }
    }
}
