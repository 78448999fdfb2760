package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend.Health.State;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Looks;
import io.limiter.kit.OwnRedis;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import java.io.IOException;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.redisson.config.Config;
import org.redisson.config.NameMapper;
import redis.clients.jedis.Jedis;

/** An address that leads to another server, while the one before becomes a replica and keeps its connections. */
class DemotedMasterTest {
    private static final Duration LONG = Duration.ofSeconds(60);
    private static final int LIMIT = 1_000_000;
    private static final PartitionKey KEY = PartitionKey.of("192.0.2.1");
    private static final Policy DENY =
            Policy.of("deny", Limit.fixedWindow(LIMIT, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);

    private final OwnRedis first = OwnRedis.start();
    private final OwnRedis second = OwnRedis.start("replicaof 127.0.0.1 " + first.port);

    @BeforeEach
    void start() {
        RedisServers.awaitReplicating(second.port);
    }

    @AfterEach
    void stop() {
        first.close();
        second.close();
    }

    /** The second becomes the master, and the first its replica, without a write in between that only one of them has. */
    private void demote() {
        try (Jedis onFirst = first.jedis();
                Jedis onSecond = second.jedis()) {
            onFirst.set("last", "write");
            long written = onFirst.waitReplicas(1, 60_000);
            assertEquals(1, written, "the replica has all");
            onSecond.slaveofNoOne();
            onFirst.slaveof("127.0.0.1", second.port);
        }
    }

    /** A call that comes after the move is decided, because it is asked again by another connection. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theFirstCallAfterItIsDecided(boolean isDirect) throws IOException {
        withBackend(isDirect, wire -> limiter -> {
            for (int i = 0; i < 10; i++) {
                assertTrue(limiter.tryAcquire(DENY, KEY, 1).allowed());
            }
            wire.lead(second.port);
            demote();
            for (int i = 0; i < 90; i++) {
                assertEquals(
                        Decision.Source.REDIS, limiter.tryAcquire(DENY, KEY, 1).source());
            }
            Decision state = Looks.at(limiter, DENY, KEY);
            assertEquals(LIMIT - 100, state.remaining(), "each counted once");
        });
    }

    /** As long as the address leads to a replica: calls are not held up, and there is one new connection in a second. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whileThereIsNoMaster(boolean isDirect) throws IOException {
        withBackend(isDirect, wire -> limiter -> {
            assertTrue(limiter.tryAcquire(DENY, KEY, 1).allowed());
            demote();
            int before = wire.connections();
            long begun = System.nanoTime();
            int asked = 0;
            while (wire.connections() < before + 3) {
                assertEquals(
                        Decision.Source.FAILED_CLOSED,
                        limiter.tryAcquire(DENY, KEY, 1).source());
                asked++;
                assertTrue(System.nanoTime() - begun < LONG.toNanos(), "no new connections");
            }
            long seconds = 1 + (System.nanoTime() - begun) / 1_000_000_000;
            // The client's own: its pool, and its pings.
            assertTrue(wire.connections() - before <= 2 * (1 + seconds), "not one for each of " + asked);
            wire.lead(second.port);
            Await.until("it decides", () -> limiter.tryAcquire(DENY, KEY, 1).source() == Decision.Source.REDIS);
        });
    }

    /** The self-test notices it, and the state is right, also when nobody asks. */
    @Test
    void nobodyAsks() throws IOException {
        try (Wire wire = Wire.to(first.port);
                RedisBackend backend = Backends.connected(
                        RedisBackend.builder().address(wire.address()).lookAgain(Duration.ofMillis(100)));
                RateLimiter limiter = RateLimiters.on(backend)) {
            demote();
            // One call notices; after that nobody comes.
            Await.until("it refuses", () -> {
                if (backend.health().isDeciding()) {
                    limiter.tryAcquire(DENY, KEY, 1);
                }
                return !backend.health().isDeciding();
            });
            wire.lead(second.port);
            Await.until(
                    "the test finds the master",
                    () -> backend.health().serversThatAre(State.ANSWERS).size() == 1
                            && backend.health().findings().isEmpty());
        }
    }

    private void withBackend(boolean isDirect, Function<Wire, Consumer<RateLimiter>> test) throws IOException {
        try (Wire wire = Wire.to(first.port)) {
            Config config = new Config();
            config.useSingleServer()
                    .setAddress(wire.address())
                    .setConnectionMinimumIdleSize(2)
                    .setConnectionPoolSize(4);
            if (!isDirect) {
                config.setNameMapper(new Prefixed());
            }
            try (RateLimiter limiter =
                    Backends.limiter(RedisBackend.builder().config(config).deadline(LONG))) {
                test.apply(wire).accept(limiter);
            }
        }
    }

    /** With it, commands go by Redisson's API. */
    static final class Prefixed implements NameMapper {
        @Override
        public String map(String name) {
            return "p:" + name;
        }

        @Override
        public String unmap(String name) {
            return name.substring(2);
        }
    }
}
