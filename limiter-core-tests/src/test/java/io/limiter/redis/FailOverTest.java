package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.internal.Algorithm;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.LogLines;
import io.limiter.kit.Looks;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.RedisClientKind;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.Jedis;

/** A master dies and another server takes its place. */
@Tag("long")
class FailOverTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Policy DENY =
            Policy.of("deny", Limit.fixedWindow(1_000_000, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);
    /** For calls that a busy machine must not deny. */
    private static final Policy UNHURRIED = DENY.withDeadline(LONG);

    @ParameterizedTest
    @EnumSource
    void sentinelsPromoteAReplicaAndItIsTestedAndDecides(RedisClientKind client) {
        OwnRedis master = OwnRedis.start();
        OwnRedis replica = OwnRedis.start("replicaof 127.0.0.1 " + master.port);
        int sentinel = RedisServers.startSentinel(master.port);
        try (master;
                replica;
                Jedis onSentinel = RedisServers.jedis(sentinel);
                Jedis onReplica = replica.jedis();
                LogLines log = new LogLines();
                RedisBackend backend = client.builder()
                        .sentinel(RedisServers.MASTER, List.of("redis://127.0.0.1:" + sentinel))
                        .build();
                RateLimiter limiter = RateLimiters.on(backend)) {
            Await.until(
                    "the sentinel knows the replica",
                    () -> onSentinel.sentinelReplicas(RedisServers.MASTER).stream()
                            .anyMatch(one -> "ok".equals(one.get("master-link-status"))));
            assertTrue(backend.awaitConnected(LONG));
            assertTrue(limiter.tryAcquire(UNHURRIED, KEY, 1).allowed());
            Await.until(
                    "the replica has the master's data",
                    () -> !onReplica.keys("*").isEmpty());
            // A finding of the new master alone, to see that it is tested.
            onReplica.configSet("maxmemory", "100mb");
            onReplica.configSet("maxmemory-policy", "allkeys-lru");
            onReplica.scriptFlush();
            RedisServers.promoteSoon(onSentinel);
            master.kill();
            Await.until(
                    "the new master decides",
                    () -> limiter.tryAcquire(DENY, KEY, 0).source() == Decision.Source.REDIS);
            Decision state = Looks.at(limiter, UNHURRIED, KEY);
            assertEquals(999_999, state.remaining(), "what was replicated still counts");
            Await.until(
                    "the new master is tested",
                    () -> backend.health().findings().stream().anyMatch(line -> line.startsWith("RL-205")));
            String name = client == RedisClientKind.LETTUCE ? RedisServers.MASTER : ":" + replica.port;
            assertTrue(log.of(Level.WARN, "RL-205").stream().anyMatch(line -> line.contains(name)), log.toString());
        }
    }

    @ParameterizedTest
    @EnumSource
    void oneFrozenMasterOfAClusterKeepsNobodyElseFromADecision(RedisClientKind client) {
        List<Integer> ports = RedisServers.startCluster();
        long frozen = RedisServers.pid(ports.get(0));
        try (LogLines log = new LogLines();
                RateLimiter limiter = Backends.limiter(client.builder().cluster(RedisServers.addresses(ports)))) {
            for (int port : ports) {
                try (Jedis node = RedisServers.jedis(port)) {
                    for (Script script : Script.all()) {
                        // No caller waits for the one, and the other is never asked alone.
                        boolean isNeeded = script != Script.KEY_SECRETS && script != Script.alone(Algorithm.BLOCK);
                        assertTrue(!isNeeded || node.scriptExists(script.sha()), script.name() + " is on every master");
                    }
                }
            }
            PartitionKey there = keyOn(limiter, ports, port -> port.equals(ports.get(0)));
            PartitionKey elsewhere = keyOn(limiter, ports, port -> !port.equals(ports.get(0)));
            RedisServers.signal("STOP", frozen);
            Await.until("it is known to be unreachable", () -> {
                limiter.tryAcquire(DENY, there, 1);
                return !log.of(Level.WARN, "RL-225 Redis at 127.0.0.1:" + ports.get(0))
                        .isEmpty();
            });
            for (int i = 0; i < 200; i++) {
                assertEquals(
                        Decision.Source.REDIS,
                        limiter.tryAcquire(UNHURRIED, elsewhere, 1).source(),
                        "by another master");
            }
            RedisServers.signal("CONT", frozen);
            Await.until(
                    "it decides again", () -> limiter.tryAcquire(DENY, there, 1).source() == Decision.Source.REDIS);
            // Calls get through a moment before the line is written.
            Await.until("the recovery is logged", () -> lines(log, "RL-226", ports.get(0)) > 0);
            assertEquals(1, lines(log, "RL-226", ports.get(0)), log::toString);
        } finally {
            RedisServers.signal("CONT", frozen);
            for (int port : ports) {
                RedisServers.signal("KILL", RedisServers.pid(port));
            }
        }
    }

    private static long lines(LogLines log, String code, int port) {
        return log.of(Level.INFO, code).stream()
                .filter(line -> line.contains(":" + port))
                .count();
    }

    /** A client whose state lies on such a node. */
    private static PartitionKey keyOn(RateLimiter limiter, List<Integer> ports, Predicate<Integer> node) {
        for (int i = 0; i < 100; i++) {
            String client = "client" + i;
            limiter.tryAcquire(DENY, PartitionKey.of(client), 1);
            for (int port : ports) {
                try (Jedis redis = RedisServers.jedis(port)) {
                    if (node.test(port) && !redis.keys("*:" + client + "}*").isEmpty()) {
                        return PartitionKey.of(client);
                    }
                }
            }
        }
        throw new AssertionError("no client's state lies there");
    }
}
