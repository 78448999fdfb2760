package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Decision;
import io.limiter.Decision.Source;
import io.limiter.FailureMode;
import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.internal.Algorithm;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** What a block costs Redis, and which denials Redis does not see. */
class BlockOnRedisTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration AGE = Duration.ofSeconds(1);
    private static final Policy LOGIN = Policy.of(
                    "login",
                    Limit.fixedWindow(1, Duration.ofHours(1)),
                    Limit.block(20, MINUTE.multipliedBy(10), MINUTE.multipliedBy(15), Duration.ofDays(1)))
            .withFailureMode(FailureMode.DENY);

    private final ManualTime time = new ManualTime();

    private RateLimiter limiter(String prefix, Duration maxAge) {
        return Backends.limiter(
                Backends.single().prefix(prefix).timeSource(time).denialMaxAge(maxAge));
    }

    private static long left(RateLimiter limiter) {
        return Looks.at(limiter, LOGIN, KEY).outcomes().get(1).remaining();
    }

    private static void deny(RateLimiter limiter, int times, Source source) {
        for (int i = 0; i < times; i++) {
            Decision denied = limiter.tryAcquire(LOGIN, KEY, 1);
            assertFalse(denied.allowed());
            assertEquals(source, denied.source());
        }
    }

    /** A flood costs Redis as many calls as lead to the block; what it denies after that is known here. */
    @Test
    void eachDenialIsCountedUntilItBlocks() {
        try (RateLimiter limiter = limiter("block-attack", AGE)) {
            assertTrue(limiter.tryAcquire(LOGIN, KEY, 1).allowed());
            deny(limiter, 19, Source.REDIS);
            assertEquals(1, left(limiter));
            Decision next = limiter.tryAcquire(LOGIN, KEY, 1);
            assertEquals(Source.REDIS, next.source());
            assertTrue(next.blocked());
            LimitOutcome block = next.outcomes().get(1);
            assertEquals(MINUTE.multipliedBy(15).toNanos() / 1_000, block.retryAfterMicros(), "one block, not several");
            // Denials by the block do not count, so at its end nothing is left of them.
            deny(limiter, 10_000, Source.CACHED_DENIAL);
            time.advance(MINUTE.multipliedBy(15));
            assertFalse(limiter.tryAcquire(LOGIN, KEY, 1).blocked());
            assertEquals(19, left(limiter));
        }
    }

    /** The window that denies for longer than the block is known here, and yet its denials count again. */
    @Test
    void denialsCountAgainAtTheEndOfTheBlock() {
        Policy policy = Policy.of(
                        "short",
                        Limit.fixedWindow(1, Duration.ofHours(1)),
                        Limit.block(20, MINUTE.multipliedBy(10), MINUTE, Duration.ofHours(1)))
                .withFailureMode(FailureMode.DENY);
        try (RateLimiter limiter = limiter("block-short", AGE)) {
            assertTrue(limiter.tryAcquire(policy, KEY, 1).allowed());
            for (int i = 0; i < 20; i++) {
                assertEquals(i == 19, limiter.tryAcquire(policy, KEY, 1).blocked());
            }
            time.advance(MINUTE.minus(AGE.dividedBy(2)));
            assertEquals(Source.REDIS, limiter.tryAcquire(policy, KEY, 1).source());
            for (int i = 0; i < 10_000; i++) {
                Decision denied = limiter.tryAcquire(policy, KEY, 1);
                assertTrue(denied.blocked() && denied.source() == Source.CACHED_DENIAL);
            }
            time.advance(AGE.dividedBy(2));
            for (int i = 1; i <= 2; i++) {
                Decision after = limiter.tryAcquire(policy, KEY, 1);
                assertEquals(Source.REDIS, after.source());
                assertFalse(after.blocked());
            }
            assertEquals(18, Looks.at(limiter, policy, KEY).outcomes().get(1).remaining());
        }
    }

    /** The same state, asked by a rule in shadow: what that knows must not keep denials from Redis. */
    @Test
    void whatAPolicyWithoutTheBlockHasLearnedIsNotUsed() {
        Policy shadow = LOGIN.withPenalty(null);
        try (RateLimiter limiter = limiter("block-shadow", AGE)) {
            assertTrue(limiter.tryAcquire(LOGIN, KEY, 1).allowed());
            for (int i = 1; i <= 5; i++) {
                assertFalse(limiter.tryAcquire(shadow, KEY, 1).allowed());
                deny(limiter, 1, Source.REDIS);
            }
            assertEquals(15, left(limiter));
            assertFalse(limiter.tryAcquire(shadow, KEY, 1).allowed());
            assertEquals(
                    Source.CACHED_DENIAL, limiter.tryAcquire(shadow, KEY, 1).source());
        }
    }

    /** They do not count toward the block, so Redis need not know of them. */
    @Test
    void denialsOfCallsInFlightAreKnownHereBesideABlock() {
        Policy policy = Policy.of(
                        "flights",
                        Limit.concurrent(1),
                        Limit.fixedWindow(100, MINUTE),
                        Limit.block(2, MINUTE, MINUTE, MINUTE))
                .withFailureMode(FailureMode.DENY);
        try (RateLimiter limiter = limiter("block-flights", AGE);
                InFlight first = limiter.enter(policy, KEY, 1)) {
            assertTrue(first.allowed());
            for (Source source : List.of(Source.REDIS, Source.CACHED_DENIAL, Source.CACHED_DENIAL)) {
                Decision denied = limiter.enter(policy, KEY, 1).decision();
                assertEquals(source, denied.source());
                assertFalse(denied.allowed() || denied.blocked());
            }
        }
    }

    @Test
    void onlyAKeyThatWasDeniedHasAStateAndItExpires() {
        try (RateLimiter limiter = limiter("block-keys", Duration.ZERO);
                Jedis redis = RedisServers.jedis()) {
            String state = "block-keys:{login:192.0.2.1}:block:block1";
            assertTrue(limiter.tryAcquire(LOGIN, KEY, 1).allowed());
            assertFalse(redis.exists(state));
            deny(limiter, 1, Source.REDIS);
            assertEquals(600_000, redis.pttl(state), 60_000, "the window");
            assertEquals(41, redis.strlen(state));
            deny(limiter, 19, Source.REDIS);
            assertEquals(
                    Duration.ofMinutes(15).plusDays(1).toMillis(), redis.pttl(state), 60_000, "the longest after it");
            limiter.reset(LOGIN, KEY);
            assertFalse(redis.exists(state));
        }
    }

    /** As redis-cli runs it: {@code redis-cli --eval block.lua key , 1 3 60000000 3 '' '' '' '' for=...,to=...,denied=1}. */
    @Test
    void theScriptRunsAlone() {
        try (Jedis redis = RedisServers.jedis()) {
            String key = "block-alone:{login:192.0.2.1}";
            redis.del(key);
            assertEquals(List.of(1L, 3L, 0L, 0L, 0L, 0L), eval(redis, key, "", "1", "0"));
            assertFalse(redis.exists(key), "an allowed call changes nothing");
            assertEquals(List.of(1L, 1L), eval(redis, key, "", "1", "2").subList(0, 2));
            assertEquals(List.of(1L, 1L), eval(redis, key, "look", "1", "0").subList(0, 2));
            List<Long> blocked = eval(redis, key, "", "1", "1");
            assertEquals(List.of(0L, 0L, 30_000_000L, 30_000_000L, 150_000_000L, 0L), blocked);
            assertEquals(0L, eval(redis, key, "", "1", "0").get(0));
            assertEquals(1L, eval(redis, key, "", "0", "5").get(0), "a call for nothing gets an answer");
            assertEquals(0L, eval(redis, key, "back:1", "1", "0").get(0));
        }
    }

    @SuppressWarnings("unchecked") // the scripts' reply is a list of integers
    private static List<Long> eval(Jedis redis, String key, String mode, String permits, String denied) {
        String options = "for=30000000,to=120000000,denied=" + denied;
        return (List<Long>) redis.eval(
                Script.alone(Algorithm.BLOCK).text(),
                List.of(key),
                List.of(permits, "3", "60000000", "3", "", "", mode, "", options));
    }
}
