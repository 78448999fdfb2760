package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Facts;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Jedis;

/** Starts with a Redis that does not answer, or refuses: what is logged, what callers get, how it heals. On real servers. */
class StartUpTest extends StartingRedis {
    @Test
    void nobodyThere() {
        try (RedisBackend backend = backend(port);
                RateLimiter limiter = limiter(backend)) {
            awaitWarning("RL-201");
            failureModesAnswer(limiter);
            try (OwnRedis own = OwnRedis.at(port)) {
                assertTrue(backend.awaitConnected(LONG));
                redisDecides(limiter);
                long logged = log.of(Level.WARN, "RL-201").stream()
                        .filter(line -> line.contains("until a retry succeeds") && !line.contains("TimeoutException"))
                        .count();
                assertTrue(logged <= 1, "logged once: " + log);
            }
        }
    }

    @Test
    void tlsWhereThePortSpeaksNone() {
        withServer(() -> {
            try (RedisBackend backend =
                    RedisBackend.builder().address("rediss://127.0.0.1:" + port).build()) {
                awaitWarning("RL-201");
                Facts.told(
                        log.of(Level.WARN, "RL-201").get(0),
                        "RL-201",
                        "TLS was not established",
                        "redis:// instead of rediss://");
                assertFalse(backend.awaitConnected(Duration.ofMillis(1)));
            }
        });
    }

    /** Only the master decides: a reader that is away must not keep the client from it. */
    @Test
    void aReaderThatIsAway() {
        withServer(() -> {
            String yaml = """
                    masterSlaveServersConfig:
                      masterAddress: redis://127.0.0.1:%d
                      slaveAddresses: ["%s"]
                      masterConnectionMinimumIdleSize: 1
                    """.formatted(port, RedisServers.nobody());
            try (RedisBackend backend =
                            Backends.connected(RedisBackend.builder().yaml(yaml).deadline(LONG));
                    RateLimiter limiter = limiter(backend)) {
                redisDecides(limiter);
            }
        });
    }

    @Test
    void aWrongPassword() {
        withServer(
                () -> {
                    try (RedisBackend backend =
                                    builder(port).credentials(null, "s3cret").build();
                            RateLimiter limiter = limiter(backend)) {
                        awaitWarning("RL-202");
                        failureModesAnswer(limiter);
                        assertFalse(log.toString().contains("s3cret"), log.toString());
                        try (Jedis redis = RedisServers.jedis(port)) {
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
            try (RedisBackend backend =
                    builder(port).credentials(null, "s3cret").build()) {
                awaitWarning("RL-202 a password is configured, and Redis has none");
                assertFalse(backend.awaitConnected(Duration.ofMillis(1)));
            }
        });
    }

    @Test
    void asManyClientsAsThereMayBe() {
        withServer(() -> {
            try (Jedis redis = RedisServers.jedis(port)) {
                redis.configSet("maxclients", "1");
                try (RedisBackend backend = backend(port)) {
                    awaitWarning("RL-201 Redis has reached its limit of clients");
                    redis.configSet("maxclients", "100");
                    assertTrue(backend.awaitConnected(LONG));
                }
            }
        });
    }

    /** A full disk and an unreachable Redis must not add up. */
    @Test
    void aLogThatBlocksHoldsUpNobodyButWhoWritesIt() throws InterruptedException {
        CountDownLatch isWritten = new CountDownLatch(1);
        // Only for this test's threads: those of other classes have the same log.
        UnsynchronizedAppenderBase<ILoggingEvent> blocked = new UnsynchronizedAppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                boolean isOurs = event.getThreadName().startsWith("caller-" + port)
                        || event.getFormattedMessage().contains(":" + port);
                if (isOurs && event.getLevel() == Level.WARN) {
                    try {
                        isWritten.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                }
            }
        };
        Logger logger = (Logger) LoggerFactory.getLogger("io.limiter");
        List<Thread> threads = new ArrayList<>();
        try (OwnRedis own = OwnRedis.at(port);
                RedisBackend backend = Backends.connected(RedisBackend.builder().address(address(port)));
                RateLimiter limiter = limiter(backend)) {
            blocked.start();
            logger.addAppender(blocked);
            own.pause();
            AtomicInteger done = new AtomicInteger();
            for (int t = 0; t < 16; t++) {
                Thread thread = new Thread(
                        () -> {
                            for (int i = 0; i < 20; i++) {
                                limiter.tryAcquire(DENY, KEY, 1);
                            }
                            done.incrementAndGet();
                        },
                        "caller-" + port + "-" + t);
                threads.add(thread);
                thread.start();
            }
            // One mode answers, so it is one line for each kind of failure: late, overload, outage.
            Await.until("at most three are held up by the log", () -> done.get() >= 13);
            isWritten.countDown();
            for (Thread thread : threads) {
                thread.join();
            }
        } finally {
            isWritten.countDown();
            logger.detachAppender(blocked);
        }
    }

    @Test
    void aNetworkThatSwallowsEverything() {
        withServer(() -> {
            try (Wire wire = Wire.to(port)) {
                log.about(":" + wire.port());
                wire.cut();
                try (RedisBackend backend = backend(wire.port());
                        RateLimiter limiter = limiter(backend)) {
                    awaitWarning("RL-201");
                    failureModesAnswer(limiter);
                    wire.repair();
                    assertTrue(backend.awaitConnected(LONG));
                    redisDecides(limiter);
                }
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    /** While another script keeps the server busy, and when a key has foreign data. */
    @Test
    void errorsAreNoSilence() {
        withServer(() -> {
            try (RedisBackend backend = Backends.connected(builder(port));
                    RateLimiter limiter = limiter(backend);
                    Jedis redis = RedisServers.jedis(port)) {
                redis.configSet("lua-time-limit", "1");
                Thread busy = new Thread(() -> {
                    try (Jedis other = RedisServers.jedis(port)) {
                        other.eval("while true do end");
                    } catch (RuntimeException killed) {
                        // That is what this test does at its end.
                    }
                });
                busy.start();
                Await.until("Redis replies BUSY", () -> {
                    limiter.tryAcquire(DENY, KEY, 1);
                    return !log.of(Level.WARN, "RL-224").isEmpty();
                });
                assertTrue(log.of(Level.WARN, "RL-225").isEmpty(), "it answers: " + log);
                redis.scriptKill();
                redisDecides(limiter);
                redis.set("limiter:{wrong:192.0.2.1}:3600000000:fixed1", "hello");
                Policy wrong = Policy.of("wrong", Limit.fixedWindow(4, Duration.ofHours(1)))
                        .withFailureMode(FailureMode.DENY);
                for (int i = 0; i < 10; i++) {
                    assertEquals(
                            Decision.Source.FAILED_CLOSED,
                            limiter.tryAcquire(wrong, KEY, 1).source());
                    assertEquals(
                            Decision.Source.REDIS,
                            limiter.tryAcquire(LOCAL, PartitionKey.of("client " + i), 1)
                                    .source(),
                            "no breaker opens for a mistake");
                }
                assertEquals(1, log.of(Level.ERROR, "RL-222").size(), "rate-limited in the log: " + log);
            }
        });
    }
}
