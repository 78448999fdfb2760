package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Backends;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** Starts with a Redis that is not as it should be: a replica, full, too old, of another kind. On real servers. */
class UnfitServerTest extends StartingRedis {
    @Test
    void theAddressOfAReplica() {
        try (OwnRedis master = OwnRedis.start()) {
            withServer(
                    () -> {
                        try (RedisBackend backend = Backends.connected(builder(port));
                                RateLimiter limiter = limiter(backend)) {
                            assertTrue(log.of(Level.WARN, "RL-203").get(0).contains("it is a replica"), log.toString());
                            assertTrue(
                                    backend.health().findings().get(0).startsWith("RL-203 Redis at 127.0.0.1:" + port));
                            failureModesAnswer(limiter);
                            assertEquals(
                                    3,
                                    log.of(Level.WARN, "RL-203 Redis replied READONLY")
                                            .size(),
                                    "once for each mode: " + log);
                            try (Jedis redis = RedisServers.jedis(port)) {
                                redis.slaveofNoOne();
                            }
                            redisDecides(limiter);
                        }
                    },
                    "replicaof 127.0.0.1 " + master.port);
        }
    }

    /** Commands renamed, or a server built without Lua. */
    @ParameterizedTest
    @ValueSource(strings = {"EVALSHA", "SCRIPT", "PEXPIRE"})
    void aServerWithoutWhatScriptsNeed(String command) {
        withServer(
                () -> {
                    try (RedisBackend backend = Backends.connected(builder(port));
                            RateLimiter limiter = limiter(backend)) {
                        Policy list = Policy.of("list", Limit.slidingList(3, Duration.ofHours(1)))
                                .withFailureMode(FailureMode.DENY);
                        assertEquals(
                                Decision.Source.FAILED_CLOSED,
                                limiter.tryAcquire(list, KEY, 1).source());
                        String line = log.of(Level.WARN, "RL-212").get(0);
                        assertTrue(line.toLowerCase(Locale.ROOT).contains("unknown"), "what Redis replied: " + line);
                        assertTrue(line.contains("Lua"), "the remedy: " + line);
                        // The line of the denial is about the client.
                        String warnings = log.of(Level.WARN, "").toString();
                        assertFalse(warnings.contains("192.0.2.1"), "no data of clients: " + warnings);
                        assertFalse(backend.health().isDeciding());
                    }
                },
                "rename-command " + command + " \"\"");
    }

    @Test
    void aNodeOfAClusterAddressedAsASingleServer() {
        int node = RedisServers.clusterPorts().get(0);
        log.about(":" + node);
        try (RedisBackend backend = Backends.connected(builder(node))) {
            assertTrue(log.of(Level.WARN, "RL-207").size() == 1, log.toString());
        }
    }

    @Test
    void aSingleServerAddressedAsACluster() {
        log.about(":" + RedisServers.singlePort());
        try (RedisBackend backend =
                RedisBackend.builder().cluster(List.of(RedisServers.single())).build()) {
            awaitWarning("RL-207");
            assertFalse(backend.awaitConnected(Duration.ofMillis(1)));
        }
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, architectures = "amd64")
    void aServerTooOld() {
        RedisServer old = RedisServers.startOld(port);
        try (RedisBackend backend = Backends.connected(builder(port))) {
            assertTrue(log.of(Level.WARN, "RL-206").get(0).contains("version 2.8.19"), log.toString());
        } finally {
            RedisServers.stop(old);
        }
    }

    /** Nothing that is taken needs it, but each call in flight when it ends. */
    @Test
    void aUserWhoMayEndNoCall() {
        withServer(() -> {
            try (Jedis redis = RedisServers.jedis(port)) {
                redis.aclSetUser("app", "on", ">s3cret", "~limiter:*", "+@all", "-zrem");
            }
            try (RedisBackend backend = Backends.connected(builder(port).credentials("app", "s3cret"))) {
                assertTrue(log.of(Level.WARN, "RL-209").get(0).contains("(script concurrent)"), log.toString());
            }
        });
    }

    @Test
    void aUserWhoMayNotEnough() {
        withServer(() -> {
            try (Jedis redis = RedisServers.jedis(port)) {
                redis.aclSetUser("app", "on", ">s3cret", "~limiter:*", "-@all", "+evalsha", "+script|load", "+time");
                redis.aclSetUser("app", "+ping", "+hello", "+auth", "+client|setname", "+select", "+llen", "+lindex");
                redis.aclSetUser("app", "+rpush", "+ltrim", "+pexpire", "+pttl", "+del");
            }
            try (RedisBackend backend = Backends.connected(builder(port).credentials("app", "s3cret"));
                    RateLimiter limiter = limiter(backend)) {
                assertTrue(log.of(Level.WARN, "RL-209").get(0).contains("(script fixed_window)"), log.toString());
                assertEquals(1, log.of(Level.WARN, "RL-210").size(), "INFO is not allowed: " + log);
                failureModesAnswer(limiter);
                assertEquals(3, log.of(Level.ERROR, "RL-209").size(), "once for each mode: " + log);
                Policy list = Policy.of("list", Limit.slidingList(3, Duration.ofHours(1)));
                assertEquals(
                        Decision.Source.REDIS,
                        limiter.tryAcquire(list, KEY, 1).source(),
                        "what is allowed works: " + log);
            }
        });
    }
}
