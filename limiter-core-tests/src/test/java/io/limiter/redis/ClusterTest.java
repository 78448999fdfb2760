package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisClientKind;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

/** Many clients on a real cluster of three masters. */
class ClusterTest {
    private static final Policy POLICY = Policy.of(
                    "crowd", Limit.slidingList(5, Duration.ofHours(1)), Limit.tokenBucket(100, Duration.ofHours(2)))
            .withFailureMode(FailureMode.DENY);
    private static final int CLIENTS = Repeats.of(3_000, 10_000);
    private static final int IN_FLIGHT = 200;
    /** Its own: this counts commands, forgets scripts and pauses a node. */
    private static final List<Integer> PORTS = RedisServers.startCluster();

    private static final List<String> ADDRESSES = RedisServers.addresses(PORTS);

    @AfterAll
    static void stop() {
        PORTS.forEach(port -> RedisServers.signal("KILL", RedisServers.pid(port)));
    }

    private static RedisBackend.Builder builder(RedisClientKind client) {
        return client.builder()
                .prefix(client.name())
                .deadline(Duration.ofSeconds(30))
                .cluster(ADDRESSES);
    }

    private static RateLimiter over(RedisClientKind client) {
        return Backends.limiter(builder(client));
    }

    @ParameterizedTest
    @EnumSource
    void manyClientsOverAllMastersAreNeverSentAstray(RedisClientKind client) {
        try (RateLimiter limiter = over(client)) {
            ask(limiter, 300, () -> {});
            long astray = errors();
            long before = commands();
            ask(limiter, CLIENTS, () -> {});
            assertEquals(astray, errors(), "MOVED, ASK or CROSSSLOT while the cluster did not change");
            long commands = commands() - before;
            assertTrue(commands < CLIENTS / 2, "calls of many slots share commands: " + commands);
        }
    }

    @ParameterizedTest
    @EnumSource
    void scriptsFlushedInTheMiddleOfLoadAreNoticedByNobody(RedisClientKind client) {
        try (RateLimiter limiter = over(client)) {
            ask(limiter, 2_000, ClusterTest::flushScripts);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aKnownDenialStandsAlthoughAnotherMasterDoesNotAnswer(RedisClientKind client) {
        int pausedPort = PORTS.get(0);
        long paused = RedisServers.pid(pausedPort);
        Policy exhausted = policy("exhausted");
        Policy unanswered = policy("unanswered");
        PartitionKey elsewhere = key(exhausted, port -> port != pausedPort);
        PartitionKey there = key(unanswered, port -> port == pausedPort);
        try (RateLimiter limiter = Backends.limiter(builder(client).denialMaxAge(Duration.ZERO))) {
            Await.until(
                    "the quota is used up",
                    () -> !limiter.tryAcquire(exhausted, elsewhere, 1).allowed());
            List<Charge> both = List.of(new Charge(unanswered, there, 1), new Charge(exhausted, elsewhere, 1));
            RedisServers.signal("STOP", paused);
            Decision decision = limiter.tryAcquire(PermitRequest.of(both));
            assertFalse(decision.allowed());
            assertEquals(Decision.Source.REDIS, decision.source());
            assertEquals("exhausted", decision.violated().get(0).limit().name());
        } finally {
            RedisServers.signal("CONT", paused);
        }
    }

    private static Policy policy(String name) {
        return Policy.of(name, Limit.fixedWindow(1, Duration.ofHours(1))).withFailureMode(FailureMode.ALLOW);
    }

    /** A client whose state lies on a master that is wanted. */
    private static PartitionKey key(Policy policy, IntPredicate wantedPort) {
        try (Jedis node = RedisServers.jedis(PORTS.get(0))) {
            for (int i = 0; i < 1_000; i++) {
                PartitionKey key = PartitionKey.of("client-" + i);
                long slot = node.clusterKeySlot(policy.name() + ":" + key.canonical());
                if (wantedPort.test(PORTS.get((int) (slot * PORTS.size() / 16_384)))) {
                    return key;
                }
            }
        }
        throw new AssertionError("no client on a wanted master");
    }

    /** Asks once for each client, some hundreds at a time; every call must be decided by Redis, and pass. */
    private static void ask(RateLimiter limiter, int clients, Runnable between) {
        for (int start = 0; start < clients; start += IN_FLIGHT) {
            AtomicInteger passed = new AtomicInteger();
            List<CompletableFuture<Void>> answers = IntStream.range(start, Math.min(clients, start + IN_FLIGHT))
                    .mapToObj(client -> limiter.acquireAsync(
                                    PermitRequest.of(POLICY, PartitionKey.of("client " + client), 1))
                            .thenAccept(decision -> {
                                if (decision.allowed() && decision.source() == Decision.Source.REDIS) {
                                    passed.incrementAndGet();
                                }
                            })
                            .toCompletableFuture())
                    .toList();
            between.run();
            CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).join();
            assertEquals(answers.size(), passed.get());
        }
    }

    private static void flushScripts() {
        for (int port : PORTS) {
            try (Jedis node = RedisServers.jedis(port)) {
                node.scriptFlush();
            }
        }
    }

    private static long errors() {
        return count("errorstats", "errorstat_(MOVED|ASK|CROSSSLOT|TRYAGAIN):count=(\\d+).*");
    }

    private static long commands() {
        return count("commandstats", "cmdstat_(evalsha):calls=(\\d+),.*");
    }

    /** The sum of the numbers that lines of an INFO have, on all nodes. */
    private static long count(String section, String line) {
        long sum = 0;
        for (int port : PORTS) {
            try (Jedis node = RedisServers.jedis(port)) {
                String stats = node.info(section);
                assertTrue(stats.contains("stat"), "INFO returns " + stats);
                Matcher matcher = Pattern.compile("(?m)^" + line).matcher(stats);
                while (matcher.find()) {
                    sum += Long.parseLong(matcher.group(2));
                }
            }
        }
        return sum;
    }

    /** A call that is denied at its second slot, after the first was charged, gives back what it took there. */
    @ParameterizedTest
    @EnumSource
    void whatWasTakenBeforeALateDenialIsGivenBack(RedisClientKind client) throws Exception {
        int callers = 8;
        int rounds = 60;
        Policy own = Policy.of("own", Limit.fixedWindow(10_000, Duration.ofHours(1)));
        Policy contended = Policy.of("contended", Limit.fixedWindow(1, Duration.ofHours(1)));
        int[] admitted = new int[callers];
        try (RateLimiter limiter = over(client)) {
            CyclicBarrier together = new CyclicBarrier(callers);
            AtOnce.run(callers, me -> {
                for (int round = 0; round < rounds; round++) {
                    together.await();
                    // All see that the contended key is free; one gets it, the others have taken their own by then.
                    List<Charge> charges = List.of(
                            new Charge(own, PartitionKey.of("caller " + me), 1),
                            new Charge(contended, PartitionKey.of("round " + round), 1));
                    admitted[me] +=
                            limiter.tryAcquire(PermitRequest.of(charges)).allowed() ? 1 : 0;
                }
            });
            int all = 0;
            for (int caller = 0; caller < callers; caller++) {
                long used = 10_000 - Looks.left(limiter, own, PartitionKey.of("caller " + caller));
                assertEquals(admitted[caller], used, "caller " + caller + " is charged for what it got");
                all += admitted[caller];
            }
            assertTrue(all <= rounds, all + " admitted in " + rounds + " rounds");
        }
    }
}
