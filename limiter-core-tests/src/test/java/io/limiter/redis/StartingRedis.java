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
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.LogLines;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;

/** Starts with a Redis of the test's own: what is logged, what callers get, how it heals. On real servers. */
abstract class StartingRedis {
    static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    static final Policy LOCAL = Policy.of("local", Limit.fixedWindow(4, Duration.ofHours(1)));
    static final Policy ALLOW = LOCAL.withFailureMode(FailureMode.ALLOW);
    static final Policy DENY = LOCAL.withFailureMode(FailureMode.DENY);
    static final Duration LONG = Duration.ofSeconds(30);

    final int port = RedisServers.freePort();
    final LogLines log = new LogLines().about(":" + port);

    @AfterEach
    void stopListening() {
        log.close();
    }

    static void failureModesAnswer(RateLimiter limiter) {
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

    static void redisDecides(RateLimiter limiter) {
        Await.until(
                "Redis decides",
                () -> limiter.tryAcquire(DENY, PartitionKey.of("other"), 1).source() == Decision.Source.REDIS);
    }

    void awaitWarning(String code) {
        Await.until(code + " is logged", () -> !log.of(Level.WARN, code).isEmpty());
    }

    static RedisBackend.Builder builder(int port) {
        return RedisBackend.builder().address(address(port)).deadline(LONG);
    }

    static RedisBackend backend(int port) {
        return builder(port).build();
    }

    static RateLimiter limiter(RedisBackend backend) {
        return RateLimiters.builder(backend)
                .fallback(InProcessBackend.create())
                .instances(2)
                .build();
    }

    static String address(int port) {
        return "redis://127.0.0.1:" + port;
    }

    void withServer(Runnable test, String... settings) {
        try (OwnRedis server = OwnRedis.at(port, settings)) {
            test.run();
        }
    }
}
