package io.limiter.redis;

import static io.limiter.Decision.Source.CACHED_DENIAL;
import static io.limiter.Decision.Source.FAILED_CLOSED;
import static io.limiter.Decision.Source.REDIS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend.Mode;
import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.LimitOutcome.DenialReason;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import io.limiter.config.LimiterConfig;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.Backends;
import io.limiter.kit.Configs;
import io.limiter.kit.Looks;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Denials from memory beside the Redis that gave them: they must never hide an admission that Redis would give, and end at
 * their time. Two instances share the keys, and one time drives their scripts and their memories.
 */
class CachedDenialTest {
    private static final AtomicInteger TESTS = new AtomicInteger();
    private static final PartitionKey KEY = PartitionKey.of("192.168.1.19");
    private static final Duration PERIOD = Duration.ofSeconds(10);
    private static final Duration MAX_AGE = Duration.ofSeconds(1);

    private final String prefix = "denials-" + TESTS.incrementAndGet();
    private final ManualTime time = new ManualTime();
    private final List<RateLimiter> opened = new ArrayList<>();
    private final RateLimiter mine = node(RedisServers.single());
    private final RateLimiter others = node(RedisServers.single());

    private RateLimiter node(String address) {
        RateLimiter limiter = Backends.limiter(at(address));
        opened.add(limiter);
        return limiter;
    }

    private RedisBackend.Builder at(String address) {
        return like(Backends.at(address));
    }

    private RedisBackend.Builder like(RedisBackend.Builder builder) {
        return builder.prefix(prefix).timeSource(time).denialMaxAge(MAX_AGE);
    }

    @AfterEach
    void close() {
        opened.forEach(RateLimiter::close);
    }

    private static Policy policy(Algorithm algorithm, long permits, Duration period) {
        long micros = period.toNanos() / 1_000;
        return Policy.of("p", AnyAlgorithm.limit(algorithm, permits, micros).withName("x"))
                .withFailureMode(FailureMode.DENY);
    }

    private static void is(Decision.Source source, boolean allowed, Decision decision) {
        assertEquals(source, decision.source(), decision.toString());
        assertEquals(allowed, decision.allowed(), decision.toString());
    }

    /** Three permits, all used, and a denial that is known. */
    private Policy exhausted(Algorithm algorithm, Duration period) {
        Policy policy = policy(algorithm, 3, period);
        is(REDIS, true, mine.tryAcquire(policy, KEY, 3));
        is(REDIS, false, mine.tryAcquire(policy, KEY, 1));
        is(CACHED_DENIAL, false, mine.tryAcquire(policy, KEY, 1));
        return policy;
    }

    @ParameterizedTest
    @MethodSource("io.limiter.kit.AnyAlgorithm#plain")
    void aResetByThisInstanceIsSeenAtOnceAndThatOfAnotherWithinMaxAge(Algorithm algorithm) {
        Policy policy = exhausted(algorithm, PERIOD);
        mine.reset(policy, KEY);
        exhausted(algorithm, PERIOD);
        others.reset(policy, KEY);
        time.advance(MAX_AGE.minusNanos(1_000));
        is(CACHED_DENIAL, false, mine.tryAcquire(policy, KEY, 1));
        is(REDIS, true, others.tryAcquire(policy, KEY, 1));
        time.advance(Duration.ofNanos(1_000));
        is(REDIS, true, mine.tryAcquire(policy, KEY, 1));
    }

    @Test
    void aFullTableOfReservationsDeniesNoOtherCalls() {
        Policy policy =
                Policy.of("held", Limit.fixedWindow(10, PERIOD)).withHolds(1).withFailureMode(FailureMode.DENY);
        assertTrue(mine.reserve(policy, KEY, 1, PERIOD).allowed());
        Decision full = mine.reserve(policy, KEY, 1, PERIOD).decision();
        assertEquals(DenialReason.HOLDS_FULL, full.violated().get(0).reason());
        Decision plain = mine.tryAcquire(policy, KEY, 1);
        assertTrue(plain.allowed(), plain.toString());
    }

    @Test
    void aReplacedConfigurationIsInForceAtOnce() throws Exception {
        String text = "limiter.backend = redis\nlimiter.redis.address = " + RedisServers.single()
                + "\nlimiter.redis.startup-wait = 60s\nlimiter.policies.p.limits = %d/1h fixed\n";
        LimiterConfig few = Configs.of(text.formatted(2));
        try (Limiter limiter = Limiter.start(few, Backends.connected(at(RedisServers.single())))) {
            limiter.tryAcquire("p", KEY, 2);
            is(REDIS, false, limiter.tryAcquire("p", KEY, 1));
            is(CACHED_DENIAL, false, limiter.tryAcquire("p", KEY, 1));
            limiter.replace(Configs.of(text.formatted(3)));
            is(REDIS, true, limiter.tryAcquire("p", KEY, 1));
            is(REDIS, false, limiter.tryAcquire("p", KEY, 1));
            is(CACHED_DENIAL, false, limiter.tryAcquire("p", KEY, 1));
            limiter.replace(few);
            is(REDIS, false, limiter.tryAcquire("p", KEY, 1));
        }
    }

    @Test
    void rememberedDenialsExpireDuringAnOutage() {
        RateLimiter limiter;
        Policy policy = policy(Algorithm.SLIDING_LIST, 1, PERIOD);
        try (OwnRedis own = OwnRedis.start()) {
            limiter = node(own.address());
            is(REDIS, true, limiter.tryAcquire(policy, KEY, 1));
            is(REDIS, false, limiter.tryAcquire(policy, KEY, 1));
        }
        // Nobody listens any more, so these calls have no answer to wait for.
        Policy hasty = policy.withDeadline(Duration.ofMillis(100));
        is(FAILED_CLOSED, false, limiter.tryAcquire(hasty, PartitionKey.of("other"), 1));
        time.advance(MAX_AGE.minusNanos(1_000));
        is(CACHED_DENIAL, false, limiter.tryAcquire(hasty, KEY, 1));
        time.advance(Duration.ofNanos(1_000));
        is(FAILED_CLOSED, false, limiter.tryAcquire(hasty, KEY, 1));
    }

    @Test
    void aClosedBackendKnowsNothing() {
        RedisBackend backend = Backends.connected(at(RedisServers.single()));
        Policy policy = policy(Algorithm.FIXED_WINDOW, 1, PERIOD);
        List<Charge> charges = List.of(new Charge(policy, KEY, 1));
        for (int i = 0; i < 3; i++) {
            backend.decideNow(charges, Mode.TAKE);
        }
        backend.close();
        assertThrows(BackendException.class, () -> backend.decideNow(charges, Mode.TAKE));
    }

    @Test
    void inAClusterChargesOfSeveralSlotsAreKnownToo() {
        try (RateLimiter limiter = Backends.limiter(like(Backends.sharedCluster()))) {
            Policy one = Policy.of("one", Limit.fixedWindow(1, PERIOD));
            Policy two = Policy.of("two", Limit.fixedWindow(9, PERIOD));
            List<Charge> both = List.of(new Charge(two, KEY, 1), new Charge(one, KEY, 1));
            Decision taken = limiter.tryAcquire(PermitRequest.of(both));
            is(REDIS, true, taken);
            is(REDIS, false, limiter.tryAcquire(PermitRequest.of(both)));
            is(CACHED_DENIAL, false, limiter.tryAcquire(PermitRequest.of(both)));
            is(CACHED_DENIAL, false, limiter.tryAcquire(one, KEY, 1));
            assertTrue(limiter.refund(taken));
            is(REDIS, true, limiter.tryAcquire(PermitRequest.of(both)));
            assertEquals(8, Looks.left(limiter, two, KEY));
        }
    }

    @Test
    void itsAgeIsAMinuteAtMost() {
        assertThrows(
                IllegalArgumentException.class, () -> at(RedisServers.single()).denialMaxAge(Duration.ofSeconds(61)));
        assertThrows(
                IllegalArgumentException.class, () -> at(RedisServers.single()).denialMaxAge(Duration.ofMillis(-1)));
    }
}
