package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.limiter.Backend.Health.State;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.RedisServers;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** One master of a cluster comes and goes all the time: what is known of another one is looked at again all the same. */
@Tag("soak")
class OneMasterFlapsTest {
    private static final long TOGGLE_NANOS = 1_500_000_000L;
    private static final Policy DENY =
            Policy.of("deny", Limit.fixedWindow(1_000_000, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);

    private boolean stopped;
    private long nextToggle = System.nanoTime();

    @Test
    void aRefusalIsForgottenWhileAnotherMasterFlaps() {
        List<Integer> ports = RedisServers.startCluster();
        long flapping = RedisServers.pid(ports.get(1));
        String refusing = "Redis at 127.0.0.1:" + ports.get(0);
        try (Jedis redis = RedisServers.jedis(ports.get(0));
                RateLimiter limiter = Backends.limiter(RedisBackend.builder().cluster(RedisServers.addresses(ports)))) {
            redis.configSet("maxmemory", "1");
            Await.until("it refuses", () -> {
                askAll(limiter);
                return limiter.monitor().health().servers().get(refusing) == State.REFUSES;
            });
            // Long enough for the test that its refusal has caused.
            Await.until("the other one flaps", () -> {
                toggle(flapping);
                askAll(limiter);
                return toggles >= 2;
            });
            redis.configSet("maxmemory", "0");
            Await.until("it decides, and health reports it", () -> {
                toggle(flapping);
                askAll(limiter);
                return limiter.monitor().health().servers().get(refusing) == State.ANSWERS;
            });
            RedisServers.signal("CONT", flapping);
            Await.until(
                    "all decide",
                    () -> IntStream.range(0, 50)
                            .allMatch(i -> limiter.tryAcquire(DENY, PartitionKey.of("client " + i), 1)
                                            .source()
                                    == Decision.Source.REDIS));
            assertEquals(List.of(), limiter.monitor().health().findings());
        } finally {
            RedisServers.signal("CONT", flapping);
            ports.forEach(port -> RedisServers.signal("KILL", RedisServers.pid(port)));
        }
    }

    private int toggles;

    private void toggle(long process) {
        if (System.nanoTime() >= nextToggle) {
            stopped = !stopped;
            toggles++;
            RedisServers.signal(stopped ? "STOP" : "CONT", process);
            nextToggle = System.nanoTime() + TOGGLE_NANOS;
        }
    }

    private static void askAll(RateLimiter limiter) {
        for (int i = 0; i < 20; i++) {
            limiter.tryAcquire(DENY, PartitionKey.of("client " + i), 1);
        }
    }
}
