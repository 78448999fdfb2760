package io.limiter.application;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Backend;
import io.limiter.Backend.Health;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.config.LimiterConfig;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Facts;
import io.limiter.kit.LogLines;
import io.limiter.kit.RedisServers;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LimiterTest {
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final String VOTE = "limiter.policies.vote.limits = 3/1h\n";

    @Test
    void whatIsSwitchedOffAdmitsEverythingAndConnectsToNothing() {
        Policy vote = Policy.of("vote", Limit.fixedWindow(0, Duration.ofHours(1)));
        LimiterConfig config = LimiterConfig.builder()
                .properties(
                        "here",
                        Map.of(
                                "limiter.enabled", "false",
                                "limiter.redis.address", "redis://127.0.0.1:1",
                                "limiter.policies.vote.limits", "0/1h"))
                .build();
        try (LogLines log = new LogLines().ofThreads();
                Limiter limiter = Limiter.start(config);
                RateLimiter given = RateLimiters.on(InProcessBackend.create());
                Limiter onGiven = Limiter.of(config, given)) {
            assertTrue(limiter.tryAcquire("vote", PartitionKey.global(), 1).allowed());
            assertTrue(onGiven.rateLimiter()
                    .tryAcquire(vote, PartitionKey.global(), 1)
                    .allowed());
            assertEquals(Backend.Health.WELL, limiter.rateLimiter().monitor().health());
            assertEquals(2, log.of(Level.WARN, "RL-118 nothing is limited").size(), log::toString);
            IllegalArgumentException refused = assertThrows(
                    IllegalArgumentException.class,
                    () -> limiter.replace(LimiterConfig.builder().build()));
            assertTrue(String.valueOf(refused.getMessage()).contains("RL-150 limiter.enabled"), refused::getMessage);
        }
    }

    /** The jar that follows it is not on the class path here. */
    @Test
    void aGroupNeedsItsJar() {
        LimiterConfig config = LimiterConfig.builder()
                .property("limiter.redis.address", "redis://127.0.0.1:1")
                .property("limiter.control.group", "shop")
                .property("limiter.control.secret", "0123456789abcdef")
                .build();
        IllegalStateException missing = assertThrows(IllegalStateException.class, () -> Limiter.start(config));
        assertTrue(missing.getMessage().startsWith("RL-512"), missing.getMessage());
        assertNull(ConfigSource.of(LimiterConfig.builder().build()));
    }

    @Test
    void settingsOfARedisWhoseAddressIsLostAreReported() {
        LimiterConfig.Builder config = LimiterConfig.builder().property("limiter.redis.key-secret", "0123456789abcdef");
        try (LogLines log = new LogLines().ofThreads()) {
            Limiter.start(config.build()).close();
            assertEquals(0, log.of(Level.WARN, "RL-111 ").size(), log::toString);
            Limiter.start(config.property("limiter.redis.mode", "cluster").build())
                    .close();
            String told = log.of(Level.WARN, "RL-111 ").toString();
            assertTrue(told.contains("limiter.redis.mode has no effect"), log::toString);
        }
    }

    @Test
    void policiesOnARateLimiterOfTheCallers() throws IOException {
        ManualTime time = new ManualTime();
        RateLimiter rateLimiter = RateLimiters.on(Backends.inProcess(time));
        try (Limiter limiter = Limiter.of(config(VOTE, Map.of()), rateLimiter)) {
            assertEquals(3, passes(limiter, Decision.Source.IN_PROCESS));
            time.advance(Duration.ofHours(1));
            assertEquals(3, passes(limiter, Decision.Source.IN_PROCESS));
        }
        Policy vote = Policy.of("vote", Limit.slidingList(3, Duration.ofHours(1)));
        Decision.Source source = rateLimiter.tryAcquire(vote, KEY, 1).source();
        assertEquals(Decision.Source.FAILED_CLOSED, source, "closing it closes the rate limiter");
    }

    @Test
    void twoLimitersOnOneRedisShareTheirLimits() throws IOException {
        Map<String, String> redis = redis("single", Map.of("ADDRESS", RedisServers.single()));
        try (Limiter one = Limiter.start(config(VOTE, redis));
                Limiter other = Limiter.start(config(VOTE, redis))) {
            assertEquals(3, passes(one, Decision.Source.REDIS) + passes(other, Decision.Source.REDIS));
        }
    }

    @Test
    void aClusterByItsAddresses() throws IOException {
        String addresses = String.join(", ", RedisServers.cluster());
        assertDecides(redis("cluster", Map.of("MODE", "cluster", "ADDRESS", addresses)));
    }

    @Test
    void aMasterBySentinels() throws IOException {
        assertDecides(redis(
                "sentinel",
                Map.of("MODE", "sentinel", "MASTER", RedisServers.MASTER, "ADDRESS", RedisServers.sentinel())));
    }

    @Test
    void aBackendOfTheCallersWithTheFailureModesAndTheShare() throws IOException {
        LimiterConfig config = config(VOTE + "limiter.instances = 3\n", Map.of());
        InProcessBackend shared = InProcessBackend.create();
        try (Limiter limiter = Limiter.start(config, shared)) {
            assertEquals(3, passes(limiter, Decision.Source.IN_PROCESS));
            shared.close();
            assertEquals(1, passes(limiter, Decision.Source.LOCAL_FALLBACK), "a third of the limit");
        }
    }

    @Test
    void whatABackendOfTheCallersIgnoresIsTold() throws IOException {
        LimiterConfig config = config(
                VOTE + "limiter.backend = redis\nlimiter.redis.address = redis://127.0.0.1:1\n"
                        + "limiter.redis.password = s3cret\n",
                Map.of());
        try (LogLines log = new LogLines().ofThreads();
                Limiter limiter = Limiter.start(config, InProcessBackend.create())) {
            assertEquals(3, passes(limiter, Decision.Source.IN_PROCESS));
            List<String> warnings = log.of(Level.WARN, "RL-");
            assertEquals(1, warnings.size(), log.toString());
            Facts.told(warnings.get(0), "RL-115", "limiter.redis.address", "limiter.redis.password", "remove");
        }
    }

    @Test
    void aRedissonFile(@TempDir Path folder) throws IOException {
        Path yaml = folder.resolve("redisson.yaml");
        Files.writeString(
                yaml,
                "singleServerConfig:\n  address: " + RedisServers.single() + "\n  connectionMinimumIdleSize: 1\n");
        Map<String, String> redis = redis("yaml", Map.of("CONFIG", "file:" + yaml));
        assertDecides(redis);
        Files.writeString(yaml, "singleServerConfig: [");
        assertThrows(IllegalArgumentException.class, () -> Limiter.start(config(VOTE, redis)));
        Files.delete(yaml);
        assertThrows(IllegalStateException.class, () -> Limiter.start(config(VOTE, redis)));
    }

    @Test
    void itStartsWithoutRedisAndTheFailureModeAnswersWithTheShare() throws IOException {
        Map<String, String> nobody = Map.of(
                "LIMITER_BACKEND", "redis",
                "LIMITER_REDIS_ADDRESS", "redis://127.0.0.1:1",
                "LIMITER_REDIS_STARTUP_WAIT", "10ms",
                "LIMITER_INSTANCES", "3");
        try (Limiter limiter = Limiter.start(config(VOTE, nobody))) {
            assertEquals(1, passes(limiter, Decision.Source.LOCAL_FALLBACK));
        }
    }

    @Test
    void anUnknownPolicyIsToldWithThoseThereAre() throws IOException {
        try (Limiter limiter = Limiter.start(config(VOTE, Map.of()))) {
            String message = String.valueOf(
                    assertThrows(IllegalArgumentException.class, () -> limiter.tryAcquire("votes", KEY, 1))
                            .getMessage());
            assertTrue(message.contains("[vote]") && message.contains("limiter.policies.votes.limits"), message);
            assertFalse(limiter.config().policies().isEmpty());
        }
    }

    /** Variables {@code LIMITER_REDIS_...}, with a prefix of their own and patience for a busy machine. */
    private static Map<String, String> redis(String name, Map<String, String> own) {
        Map<String, String> environment = new HashMap<>();
        environment.put("LIMITER_BACKEND", "redis");
        environment.put("LIMITER_REDIS_PREFIX", "wiring-" + name);
        environment.put("LIMITER_REDIS_DEADLINE", "30s");
        environment.put("LIMITER_REDIS_STARTUP_WAIT", "60s");
        own.forEach((key, value) -> environment.put("LIMITER_REDIS_" + key, value));
        return environment;
    }

    private static void assertDecides(Map<String, String> redis) throws IOException {
        try (Limiter limiter = Limiter.start(config(VOTE, redis))) {
            // One of several masters may have missed the test of the beginning.
            Await.until(
                    "all masters answer",
                    () -> Set.of(Health.State.ANSWERS)
                            .containsAll(limiter.rateLimiter()
                                    .monitor()
                                    .health()
                                    .servers()
                                    .values()));
            assertEquals(3, passes(limiter, Decision.Source.REDIS));
        }
    }

    private static int passes(Limiter limiter, Decision.Source source) {
        int passes = 0;
        for (int i = 0; i < 10; i++) {
            Decision decision = limiter.tryAcquire("vote", KEY, 1);
            boolean isRemembered = decision.source() == Decision.Source.CACHED_DENIAL;
            assertEquals(source, isRemembered ? Decision.Source.REDIS : decision.source());
            passes += decision.allowed() ? 1 : 0;
        }
        return passes;
    }

    private static LimiterConfig config(String text, Map<String, String> environment) throws IOException {
        return LimiterConfig.builder()
                .text("limiter.properties", new StringReader(text))
                .environment(environment)
                .build();
    }
}
