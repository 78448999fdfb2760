package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.BackendException;
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
import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Traffic;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** The Redis path on a server that answers: keys, scripts, users, clients, threads, and the end. */
class RedisBackendTest {
    private static final PartitionKey KEY = PartitionKey.of("192.168.1.19");
    private static final Policy MANY =
            Policy.of("many", Limit.fixedWindow(1_000_000, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);

    @Test
    void everyKeyHasATimeToLive() {
        String prefix = "ttl";
        ManualTime time = new ManualTime();
        for (boolean cluster : new boolean[] {false, true}) {
            RedisBackend.Builder builder = RedisBackend.builder()
                    .prefix(prefix)
                    .deadline(Duration.ofSeconds(30))
                    .timeSource(time);
            RedisBackend backend = Backends.connected(
                    cluster ? builder.cluster(RedisServers.cluster()) : builder.address(RedisServers.single()));
            try (RateLimiter limiter = RateLimiters.on(backend)) {
                Traffic traffic = Traffic.mixed(7);
                List<Decision> decisions = new ArrayList<>();
                for (int i = 0; i < 2_000; i++) {
                    Traffic.Step step = traffic.next();
                    time.setMicros(step.now());
                    if (step.kind() == Traffic.Kind.REFUND && !decisions.isEmpty()) {
                        limiter.refund(decisions.remove(decisions.size() - 1));
                    } else if (step.kind() == Traffic.Kind.TAKE) {
                        decisions.add(limiter.tryAcquire(
                                PermitRequest.of(step.charges()).withEnd()));
                    }
                }
            }
            int keys = 0;
            for (int port : cluster ? RedisServers.clusterPorts() : List.of(RedisServers.singlePort())) {
                try (Jedis redis = new Jedis("127.0.0.1", port)) {
                    for (String key : redis.keys(prefix + ":*")) {
                        keys++;
                        assertTrue(redis.pttl(key) > 0, key + " has no time to live");
                    }
                }
            }
            assertTrue(keys > 10, "only " + keys + " keys were left to look at");
        }
    }

    /** Else what has run out after the last call would count until the window ends, and nobody could give it back. */
    @Test
    void theRecordsOfAWindowLastAsLongAsTheWindow() {
        Policy policy =
                Policy.of("p", Limit.fixedWindow(10, Duration.ofDays(1))).withHolds(10);
        String prefix = "records-of-a-window";
        try (RateLimiter limiter = RateLimiters.on(Backends.connected(RedisBackend.builder()
                        .prefix(prefix)
                        .address(RedisServers.single())
                        .deadline(Duration.ofSeconds(30))));
                Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            assertTrue(limiter.reserve(policy, KEY, 10, Duration.ofSeconds(1)).allowed());
            Set<String> keys = redis.keys(prefix + ":{p:*");
            assertEquals(2, keys.size(), keys::toString);
            keys.forEach(
                    key -> assertTrue(redis.pttl(key) > Duration.ofHours(23).toMillis(), key));
        }
    }

    private interface Write {
        void on(RateLimiter limiter);
    }

    /** Each kind of write by itself: a later one would give a time to live to what an earlier one has left without. */
    @ParameterizedTest
    @EnumSource(names = "ALLOTMENT", mode = EnumSource.Mode.EXCLUDE) // until it closes
    void noWriteLeavesAKeyWithoutATimeToLive(Algorithm algorithm) {
        Duration hour = Duration.ofHours(1);
        Policy policy = algorithm == Algorithm.BLOCK
                ? Policy.of("p", Limit.fixedWindow(3, hour)).withPenalty(Limit.block(2, hour, hour, hour))
                : Policy.of("p", Limit.of(algorithm, 3, hour));
        Charge two = AnyAlgorithm.charge(policy, KEY, 2);
        Charge named = algorithm == Algorithm.SLIDING_ZSET ? new Charge(policy, KEY, 1, "id") : two;
        Deque<Decision> taken = new ArrayDeque<>();
        Map<String, Write> writes = new LinkedHashMap<>();
        writes.put("take", limiter -> taken.push(take(limiter, two)));
        writes.put("take more", limiter -> taken.push(take(limiter, AnyAlgorithm.charge(policy, KEY, 1))));
        writes.put("denied", limiter -> take(limiter, two));
        writes.put("denied again", limiter -> take(limiter, two));
        writes.put("refund", limiter -> limiter.refund(taken.pop()));
        writes.put("with an id", limiter -> taken.push(take(limiter, named)));
        writes.put("asked again", limiter -> take(limiter, named));
        writes.put("refund all", limiter -> taken.forEach(limiter::refund));
        writes.put("take after that", limiter -> take(limiter, two));
        String prefix = "alive-" + algorithm.text();
        ManualTime time = new ManualTime();
        try (RateLimiter limiter = RateLimiters.on(Backends.connected(RedisBackend.builder()
                        .prefix(prefix)
                        .address(RedisServers.single())
                        .deadline(Duration.ofSeconds(30))
                        .denialMaxAge(Duration.ZERO)
                        .timeSource(time)));
                Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            // As it steps on, stands, and steps back.
            for (long step : new long[] {1_000_000, 0, -1_000_000}) {
                redis.keys(prefix + ":*").forEach(redis::del);
                taken.clear();
                writes.forEach((what, write) -> {
                    write.on(limiter);
                    // What ends in the background may be gone by then.
                    redis.keys(prefix + ":*")
                            .forEach(key -> assertTrue(redis.pttl(key) != -1, what + " left " + key + " for ever"));
                    time.advanceMicros(step);
                });
                assertFalse(redis.keys(prefix + ":*").isEmpty(), "nothing was written");
            }
        }
    }

    private static Decision take(RateLimiter limiter, Charge charge) {
        Decision decision = limiter.tryAcquire(PermitRequest.of(List.of(charge)).withEnd());
        assertEquals(Decision.Source.REDIS, decision.source());
        return decision;
    }

    @Test
    void keysOfOneClientShareASlotAndClientsSpreadOverAllMasters() {
        Policy policy = Policy.of(
                "spread", Limit.slidingList(5, Duration.ofMinutes(10)), Limit.tokenBucket(9, Duration.ofHours(1)));
        RedisBackend backend = Backends.connected(RedisBackend.builder()
                .prefix("slots")
                .deadline(Duration.ofSeconds(30))
                .cluster(RedisServers.cluster()));
        try (RateLimiter limiter = RateLimiters.on(backend)) {
            for (int i = 0; i < 60; i++) {
                Decision decision = limiter.tryAcquire(policy, PartitionKey.of("client " + i), 1);
                assertEquals(Decision.Source.REDIS, decision.source());
            }
        }
        Set<Integer> masters = new HashSet<>();
        for (int port : RedisServers.clusterPorts()) {
            try (Jedis redis = new Jedis("127.0.0.1", port)) {
                int keys = redis.keys("slots:*").size();
                assertEquals(0, keys % 2, "the two limits of a client lie on two masters");
                if (keys > 0) {
                    masters.add(port);
                }
            }
        }
        assertEquals(RedisServers.clusterPorts().size(), masters.size());
    }

    @Test
    void forgottenScriptsAreLoadedAgainAndNobodyNotices() {
        // Its own: calls of other tests may not be prepared for that.
        int port = RedisServers.freePort();
        RedisServer server = RedisServers.start(port);
        RedisBackend backend = Backends.connected(Backends.redis().address("redis://127.0.0.1:" + port));
        Policy policy = Policy.of(
                        "forgotten",
                        Limit.slidingZset(1_000, Duration.ofHours(1)),
                        Limit.fixedWindow(1_000, Duration.ofHours(2)))
                .withFailureMode(FailureMode.DENY);
        try (RateLimiter limiter = RateLimiters.on(backend);
                Jedis redis = new Jedis("127.0.0.1", port)) {
            for (int i = 0; i < 20; i++) {
                redis.scriptFlush();
                assertTrue(limiter.tryAcquire(policy, KEY, 1).allowed());
                assertTrue(limiter.tryAcquire(MANY, KEY, 1).allowed());
                limiter.reset(MANY, KEY);
            }
            assertEquals(980, Looks.left(limiter, policy, KEY));
        } finally {
            RedisServers.stop(server);
        }
    }

    @Test
    void aGivenClientIsUsedWhateverItsCodecAndNeverShutDown() {
        Config config = new Config();
        config.useSingleServer().setAddress(RedisServers.single()).setConnectionMinimumIdleSize(1);
        RedissonClient client = Redisson.create(config);
        try {
            try (RateLimiter limiter =
                    RateLimiters.on(Backends.connected(Backends.redis().client(client)))) {
                assertTrue(limiter.tryAcquire(MANY, KEY, 1).allowed());
            }
            assertFalse(client.isShutdown());
        } finally {
            client.shutdown();
        }
    }

    @Test
    void anErrorOfAScriptIsToldWithItsCodeAndWithoutTheKey() {
        try (Backend backend = Backends.connected(RedisBackend.builder()
                        .prefix("foreign")
                        .deadline(Duration.ofSeconds(30))
                        .address(RedisServers.single()));
                Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            Policy policy = Policy.of("wrong", Limit.slidingList(3, Duration.ofHours(1)));
            redis.set("foreign:{wrong:secret}:3600000000:sliding-list1", "hello");
            Charge charge = new Charge(policy, PartitionKey.of("secret"), 1);
            ExecutionException failure = assertThrows(
                    ExecutionException.class,
                    () -> backend.decide(List.of(charge), Backend.Mode.TAKE)
                            .toCompletableFuture()
                            .get());
            BackendException cause = assertInstanceOf(BackendException.class, failure.getCause());
            assertTrue(String.valueOf(cause.getMessage()).contains("WRONGTYPE"), cause.getMessage());
            assertFalse(String.valueOf(cause.getMessage()).contains("secret"), cause.getMessage());
        }
    }

    @Test
    void aUserWhoMayTouchNothingElseIsEnough() {
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            redis.aclSetUser(
                    "app",
                    "on",
                    ">secret",
                    "~mine:*",
                    "-@all",
                    "+evalsha",
                    "+script|load",
                    "+time",
                    "+get",
                    "+set",
                    "+ping",
                    "+hello",
                    "+auth",
                    "+client|setname",
                    "+select");
            String address = RedisServers.single().replace("//", "//app:secret@");
            try (RateLimiter limiter = RateLimiters.on(Backends.connected(RedisBackend.builder()
                    .prefix("mine")
                    .deadline(Duration.ofSeconds(30))
                    .address(address)))) {
                assertTrue(limiter.tryAcquire(MANY, KEY, 1).allowed());
            } finally {
                redis.aclDelUser("app");
            }
        }
    }

    @Test
    void dependentCodeNeverRunsOnAThreadOfTheRedisClient() throws Exception {
        try (RateLimiter limiter =
                RateLimiters.on(Backends.connected(Backends.redis().address(RedisServers.single())))) {
            for (Algorithm algorithm : AnyAlgorithm.limits()) {
                Policy policy = Policy.of("threads", AnyAlgorithm.limit(algorithm, 5, 1_000_000));
                String thread = limiter.acquireAsync(PermitRequest.of(policy, KEY, 1))
                        .thenApply(decision -> Thread.currentThread().getName())
                        .toCompletableFuture()
                        .get(30, TimeUnit.SECONDS);
                assertFalse(thread.startsWith("redisson") || thread.startsWith("limiter-"), thread);
            }
        }
    }
}
