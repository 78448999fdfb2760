package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Decision.Source;
import io.limiter.FailureMode;
import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.Algorithm;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisMonitor;

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
        return RateLimiters.on(Backends.connected(Backends.redis()
                .address(RedisServers.single())
                .prefix(prefix)
                .timeSource(time)
                .denialMaxAge(maxAge)));
    }

    private static Jedis redis() {
        return new Jedis("127.0.0.1", RedisServers.singlePort());
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
    void instancesCountTogether() {
        try (RateLimiter one = limiter("block-two", AGE);
                RateLimiter two = limiter("block-two", AGE)) {
            assertTrue(one.tryAcquire(LOGIN, KEY, 1).allowed());
            deny(one, 10, Source.REDIS);
            deny(two, 9, Source.REDIS);
            assertTrue(two.tryAcquire(LOGIN, KEY, 1).blocked(), "10 + 10 denials");
            assertTrue(one.tryAcquire(LOGIN, KEY, 1).blocked());
        }
    }

    /** Several leave in one command. */
    @Test
    void threadsThatDenyAtOnceCountEachDenialOnce() throws Exception {
        Policy policy = Policy.of(
                        "many",
                        Limit.fixedWindow(1, Duration.ofHours(1)),
                        Limit.block(1_000_000, Duration.ofHours(1), MINUTE, MINUTE))
                .withFailureMode(FailureMode.DENY);
        int threads = 8;
        int calls = 200;
        try (RateLimiter limiter = limiter("block-threads", AGE)) {
            assertTrue(limiter.tryAcquire(policy, KEY, 1).allowed());
            AtOnce.run(threads, thread -> {
                for (int i = 0; i < calls; i++) {
                    assertFalse(limiter.tryAcquire(policy, KEY, 1).allowed());
                }
            });
            long counted =
                    1_000_000 - Looks.at(limiter, policy, KEY).outcomes().get(1).remaining();
            assertEquals(threads * calls, counted);
        }
    }

    @Test
    void onlyAKeyThatWasDeniedHasAStateAndItExpires() {
        try (RateLimiter limiter = limiter("block-keys", Duration.ZERO);
                Jedis redis = redis()) {
            String state = "block-keys:{login:192.0.2.1}:block:block1";
            assertTrue(limiter.tryAcquire(LOGIN, KEY, 1).allowed());
            assertFalse(redis.exists(state));
            deny(limiter, 1, Source.REDIS);
            assertEquals(600_000, redis.pttl(state), 5_000, "the window");
            assertEquals(41, redis.strlen(state));
            deny(limiter, 19, Source.REDIS);
            assertEquals(
                    Duration.ofMinutes(15).plusDays(1).toMillis(), redis.pttl(state), 5_000, "the longest after it");
            limiter.reset(LOGIN, KEY);
            assertFalse(redis.exists(state));
        }
    }

    @Test
    void aRequestIsOneCommand() throws Exception {
        try (RateLimiter limiter = limiter("block-monitor", Duration.ZERO);
                Jedis redis = redis();
                Jedis monitor = redis()) {
            List<String> seen = new ArrayList<>();
            CountDownLatch begun = new CountDownLatch(1);
            CountDownLatch ended = new CountDownLatch(1);
            Thread reader = new Thread(() -> monitor.monitor(new JedisMonitor() {
                @Override
                public void onCommand(String command) {
                    if (command.contains("block-monitor-begin")) {
                        begun.countDown();
                    } else if (command.contains("block-monitor-end")) {
                        ended.countDown();
                        client.disconnect();
                    } else if (command.contains("block-monitor:") && !command.contains(" lua] ")) {
                        seen.add(command);
                    }
                }
            }));
            reader.setDaemon(true);
            reader.start();
            while (!begun.await(20, TimeUnit.MILLISECONDS)) {
                redis.get("block-monitor-begin");
            }
            for (int i = 0; i < 25; i++) {
                limiter.tryAcquire(LOGIN, KEY, 1);
            }
            redis.get("block-monitor-end");
            assertTrue(ended.await(30, TimeUnit.SECONDS));
            assertEquals(25, seen.size(), () -> String.join("\n", seen));
            assertTrue(seen.stream()
                    .allMatch(line -> line.toLowerCase(java.util.Locale.ROOT).contains("\"evalsha\"")));
            assertTrue(limiter.tryAcquire(LOGIN, KEY, 1).blocked());
        }
    }

    /** As redis-cli runs it: {@code redis-cli --eval block.lua key , 1 3 60000000 3 '' '' '' '' for=...,to=...,denied=1}. */
    @Test
    void theScriptRunsAlone() {
        try (Jedis redis = redis()) {
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

    @Test
    void inAChargeOfSeveralPoliciesTheDenialsOfEachCount() {
        Policy other =
                Policy.of("other", Limit.fixedWindow(100, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);
        try (RateLimiter limiter = limiter("block-several", AGE)) {
            List<Charge> both = List.of(new Charge(other, KEY, 1), new Charge(LOGIN, KEY, 1));
            assertTrue(limiter.tryAcquire(PermitRequest.of(both)).allowed());
            for (int i = 0; i < 10; i++) {
                assertEquals(
                        Source.REDIS, limiter.tryAcquire(PermitRequest.of(both)).source());
            }
            assertEquals(10, left(limiter));
        }
    }
}
