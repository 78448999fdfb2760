package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.LogLines;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** Starts with a Redis that is not as it should be: what is logged, what callers get, how it heals. On real servers. */
class StartUpTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Policy LOCAL = Policy.of("local", Limit.fixedWindow(4, Duration.ofHours(1)));
    private static final Policy ALLOW = LOCAL.onFailure(FailureMode.ALLOW);
    private static final Policy DENY = LOCAL.onFailure(FailureMode.DENY);
    private static final Duration LONG = Duration.ofSeconds(30);

    private final int port = RedisServers.freePort();
    private final LogLines log = new LogLines();

    @AfterEach
    void stopListening() {
        log.close();
    }

    @Test
    void nobodyThere() {
        try (RedisBackend backend = backend(port);
                RateLimiter limiter = limiter(backend)) {
            awaitWarning("RL-201");
            failureModesAnswer(limiter);
            RedisServer server = RedisServers.start(port);
            try {
                assertTrue(backend.awaitConnected(LONG));
                redisDecides(limiter);
                long told = log.of(Level.WARN, "RL-201").stream()
                        .filter(line -> line.contains("tried again"))
                        .count();
                assertEquals(1, told, "told once: " + log);
            } finally {
                RedisServers.stop(server);
            }
        }
    }

    @Test
    void aWrongPassword() {
        withServer(
                () -> {
                    RedisBackend.Builder builder =
                            RedisBackend.builder().address(address(port)).credentials(null, "s3cret");
                    try (RedisBackend backend =
                                    builder.deadline(Duration.ofSeconds(5)).build();
                            RateLimiter limiter = limiter(backend)) {
                        awaitWarning("RL-202");
                        failureModesAnswer(limiter);
                        assertFalse(log.toString().contains("s3cret"), log.toString());
                        try (Jedis redis = new Jedis("127.0.0.1", port)) {
                            redis.auth("other");
                            redis.configSet("requirepass", "s3cret");
                        }
                        assertTrue(backend.awaitConnected(LONG));
                        redisDecides(limiter);
                    }
                },
                "requirepass other");
    }

    @Test
    void aPasswordForAServerThatHasNone() {
        withServer(() -> {
            RedisBackend.Builder builder =
                    RedisBackend.builder().address(address(port)).credentials(null, "s3cret");
            try (RedisBackend backend = builder.build()) {
                awaitWarning("RL-202 a password is configured, and Redis has none");
                assertFalse(backend.awaitConnected(Duration.ofMillis(1)));
            }
        });
    }

    @Test
    void asManyClientsAsThereMayBe() {
        withServer(() -> {
            try (Jedis redis = new Jedis("127.0.0.1", port)) {
                redis.configSet("maxclients", "1");
                try (RedisBackend backend = backend(port)) {
                    awaitWarning("RL-201 Redis has as many clients as it may have");
                    redis.configSet("maxclients", "100");
                    assertTrue(backend.awaitConnected(LONG));
                }
            }
        });
    }

    /** A disk that is full and a Redis that is away must not add up. */
    @Test
    void aLogThatBlocksHoldsUpNobodyButWhoWritesIt() throws InterruptedException {
        RedisServer server = RedisServers.start(port);
        long pid = RedisServers.pid(port);
        AppenderBase<ILoggingEvent> slow = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                if (event.getLevel() == Level.WARN) {
                    LockSupport.parkNanos(Duration.ofSeconds(2).toNanos());
                }
            }
        };
        Logger logger = (Logger) LoggerFactory.getLogger("io.limiter");
        try (RedisBackend backend =
                        RedisBackend.builder().address(address(port)).build();
                RateLimiter limiter = limiter(backend)) {
            assertTrue(backend.awaitConnected(LONG));
            slow.start();
            logger.addAppender(slow);
            RedisServers.signal("STOP", pid);
            AtomicInteger heldUp = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int t = 0; t < 16; t++) {
                Thread thread = new Thread(() -> {
                    long longest = 0;
                    for (int i = 0; i < 100; i++) {
                        long start = System.nanoTime();
                        limiter.tryAcquire(DENY, KEY, 1);
                        longest = Math.max(longest, System.nanoTime() - start);
                    }
                    heldUp.addAndGet(longest > Duration.ofSeconds(1).toNanos() ? 1 : 0);
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            // One mode answers, so it is one line for each kind of failure: late, overload, away.
            assertTrue(heldUp.get() <= 3, heldUp + " of 16 threads were held up by the log");
        } finally {
            logger.detachAppender(slow);
            RedisServers.signal("CONT", pid);
            RedisServers.stop(server);
        }
    }

    @Test
    void aNetworkThatSwallowsEverything() {
        withServer(() -> {
            try (Wire wire = Wire.to(port)) {
                wire.cut();
                try (RedisBackend backend = backend(wire.port());
                        RateLimiter limiter = limiter(backend)) {
                    awaitWarning("RL-201");
                    failureModesAnswer(limiter);
                    wire.mend();
                    assertTrue(backend.awaitConnected(LONG));
                    redisDecides(limiter);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void theAddressOfAReplica() {
        int master = RedisServers.freePort();
        RedisServer other = RedisServers.start(master);
        try {
            withServer(
                    () -> {
                        try (RedisBackend backend = backend(port);
                                RateLimiter limiter = limiter(backend)) {
                            assertTrue(backend.awaitConnected(LONG));
                            assertTrue(log.of(Level.WARN, "RL-203").get(0).contains("it is a replica"), log.toString());
                            assertTrue(backend.findings().get(0).startsWith("RL-203 Redis at 127.0.0.1:" + port));
                            failureModesAnswer(limiter);
                            assertEquals(
                                    3,
                                    log.of(Level.WARN, "RL-203 Redis said READONLY")
                                            .size(),
                                    "once for each mode: " + log);
                            try (Jedis redis = new Jedis("127.0.0.1", port)) {
                                redis.slaveofNoOne();
                            }
                            redisDecides(limiter);
                        }
                    },
                    "replicaof 127.0.0.1 " + master);
        } finally {
            RedisServers.stop(other);
        }
    }

    @Test
    void aFullMemory() {
        withServer(() -> {
            try (Jedis redis = new Jedis("127.0.0.1", port)) {
                redis.set("filler", "x".repeat(3_000_000));
                redis.configSet("maxmemory", "1mb");
            }
            try (RedisBackend backend = backend(port);
                    RateLimiter limiter = limiter(backend)) {
                assertTrue(backend.awaitConnected(LONG));
                assertTrue(log.of(Level.WARN, "RL-204 Redis at").size() == 1, log.toString());
                failureModesAnswer(limiter);
                try (Jedis redis = new Jedis("127.0.0.1", port)) {
                    redis.configSet("maxmemory", "0");
                }
                redisDecides(limiter);
            }
        });
    }

    @Test
    void aMemoryPolicyThatForgetsWhatClientsUsed() {
        withServer(
                () -> {
                    try (RedisBackend backend = backend(port)) {
                        assertTrue(backend.awaitConnected(LONG));
                        assertTrue(
                                backend.findings().get(0).contains("allkeys-lru"),
                                backend.findings().toString());
                        assertEquals(1, log.of(Level.WARN, "RL-205").size(), log.toString());
                    }
                },
                "maxmemory 100mb",
                "maxmemory-policy allkeys-lru");
    }

    @Test
    void aNodeOfAClusterAddressedAsASingleServer() {
        try (RedisBackend backend = backend(RedisServers.clusterPorts().get(0))) {
            assertTrue(backend.awaitConnected(LONG));
            assertTrue(log.of(Level.WARN, "RL-207").size() == 1, log.toString());
        }
    }

    @Test
    void aSingleServerAddressedAsACluster() {
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
        try (RedisBackend backend = backend(port)) {
            assertTrue(backend.awaitConnected(LONG));
            assertTrue(log.of(Level.WARN, "RL-206").get(0).contains("version 2.8.19"), log.toString());
        } finally {
            RedisServers.stop(old);
        }
    }

    @Test
    void aUserWhoMayNotEnough() {
        withServer(() -> {
            try (Jedis redis = new Jedis("127.0.0.1", port)) {
                redis.aclSetUser("app", "on", ">s3cret", "~limiter:*", "-@all", "+evalsha", "+script|load", "+time");
                redis.aclSetUser("app", "+ping", "+hello", "+auth", "+client|setname", "+select", "+llen", "+lindex");
                redis.aclSetUser("app", "+rpush", "+ltrim", "+pexpire", "+del");
            }
            try (RedisBackend backend = RedisBackend.builder()
                            .address(address(port))
                            .credentials("app", "s3cret")
                            .deadline(Duration.ofSeconds(5))
                            .build();
                    RateLimiter limiter = limiter(backend)) {
                assertTrue(backend.awaitConnected(LONG));
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

    /** While another script keeps the server busy, and when foreign data stands under a key. */
    @Test
    void errorsAreNoSilence() {
        withServer(() -> {
            try (RedisBackend backend = backend(port);
                    RateLimiter limiter = limiter(backend);
                    Jedis redis = new Jedis("127.0.0.1", port)) {
                assertTrue(backend.awaitConnected(LONG));
                redis.configSet("lua-time-limit", "1");
                Thread busy = new Thread(() -> {
                    try (Jedis other = new Jedis("127.0.0.1", port, 60_000)) {
                        other.eval("while true do end");
                    } catch (RuntimeException killed) {
                        // That is what this test does at its end.
                    }
                });
                busy.start();
                Await.until(LONG, "Redis says BUSY", () -> {
                    limiter.tryAcquire(DENY, KEY, 1);
                    return !log.of(Level.WARN, "RL-224").isEmpty();
                });
                assertTrue(log.of(Level.WARN, "RL-225").isEmpty(), "it answers: " + log);
                redis.scriptKill();
                redisDecides(limiter);
                redis.set("limiter:{wrong:192.0.2.1}:wrong:fixed1", "hello");
                Policy wrong = Policy.of("wrong", Limit.fixedWindow(4, Duration.ofHours(1)))
                        .onFailure(FailureMode.DENY);
                for (int i = 0; i < 10; i++) {
                    assertEquals(
                            Decision.Source.FAILED_CLOSED,
                            limiter.tryAcquire(wrong, KEY, 1).source());
                    assertEquals(
                            Decision.Source.REDIS,
                            limiter.tryAcquire(LOCAL, KEY, 1).source(),
                            "no breaker opens for a mistake");
                }
                assertEquals(1, log.of(Level.ERROR, "RL-222").size(), "told once in a while: " + log);
            }
        });
    }

    private static void failureModesAnswer(RateLimiter limiter) {
        assertEquals(
                Decision.Source.FAILED_CLOSED, limiter.tryAcquire(DENY, KEY, 1).source());
        Decision allowed = limiter.tryAcquire(ALLOW, KEY, 1);
        assertEquals(Decision.Source.FAILED_OPEN, allowed.source());
        assertTrue(allowed.outcomes().isEmpty(), "a guess has no numbers");
        int passed = 0;
        for (int i = 0; i < 10; i++) {
            Decision decision = limiter.tryAcquire(LOCAL, KEY, 1);
            assertEquals(Decision.Source.LOCAL_FALLBACK, decision.source());
            passed += decision.allowed() ? 1 : 0;
        }
        assertEquals(2, passed, "half of the limit, because two instances share it");
    }

    private static void redisDecides(RateLimiter limiter) {
        Await.until(
                LONG,
                "Redis decides",
                () -> limiter.tryAcquire(DENY, PartitionKey.of("other"), 1).source() == Decision.Source.REDIS);
    }

    private void awaitWarning(String code) {
        Await.until(LONG, code + " is told", () -> !log.of(Level.WARN, code).isEmpty());
    }

    private static RedisBackend backend(int port) {
        return RedisBackend.builder()
                .address(address(port))
                .deadline(Duration.ofSeconds(5))
                .build();
    }

    private static RateLimiter limiter(RedisBackend backend) {
        return RateLimiter.builder(backend)
                .fallback(InProcessBackend.create())
                .instances(2)
                .build();
    }

    private static String address(int port) {
        return "redis://127.0.0.1:" + port;
    }

    private void withServer(Runnable test, String... settings) {
        RedisServer server = RedisServers.start(port, settings);
        try {
            test.run();
        } finally {
            RedisServers.stop(server);
        }
    }
}
