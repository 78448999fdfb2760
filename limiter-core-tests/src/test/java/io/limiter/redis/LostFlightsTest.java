package io.limiter.redis;

import static io.limiter.redis.FlightInstances.CALLS;
import static io.limiter.redis.FlightInstances.KEY;
import static io.limiter.redis.FlightInstances.SLOW;
import static io.limiter.redis.FlightInstances.free;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.FailureMode;
import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.LogLines;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** Calls in flight whose state Redis has lost, or whose answers were, or whose instance was killed. */
class LostFlightsTest {
    private static final Duration HOLD = Duration.ofSeconds(1);
    private static final int EACH = Repeats.of(1_500, 15_000);

    private final FlightInstances instances = new FlightInstances();

    @AfterEach
    void close() {
        instances.close();
    }

    /** Renewals, repetitions and ends of many calls cross each other. */
    @Test
    void nothingIsLeftBehindTheEnds() throws Exception {
        RedisBackend backend = Backends.connected(RedisBackend.builder()
                .prefix(instances.prefix)
                .address(RedisServers.single())
                .deadline(Duration.ofSeconds(30)));
        Policy many = Policy.of("many", Limit.concurrent(1_000, HOLD)).withFailureMode(FailureMode.DENY);
        try (RateLimiter one = RateLimiters.on(backend)) {
            AtOnce.run(8, thread -> {
                Deque<InFlight> mine = new ArrayDeque<>();
                for (int i = 0; i < EACH; i++) {
                    mine.add(one.enter(many, KEY, 1));
                    if (mine.size() > 100) {
                        mine.remove().close();
                    }
                    if (i % 100 == 50 && i < EACH / 2) {
                        instances.forget();
                    }
                }
                mine.forEach(InFlight::close);
            });
            Await.until("all ends are answered", () -> backend.flights.size() == 0);
            try (Jedis redis = RedisServers.jedis(RedisServers.singlePort())) {
                assertEquals(Set.of(), redis.keys(instances.prefix + "*"));
            }
        }
    }

    /** Without waiting for what it holds to run out. */
    @Test
    void anInstanceThatStopsEndsWhatItHolds() {
        RateLimiter one = instances.open();
        one.enter(SLOW, KEY, 2);
        instances.close();
        assertEquals(2, free(instances.open(), SLOW));
    }

    @Test
    void anOverrunIsLogged() {
        try (LogLines lines = new LogLines().about("policy 'calls'")) {
            RateLimiter one = instances.open();
            RateLimiter two = instances.open();
            InFlight first = one.enter(CALLS, KEY, 2);
            instances.forget();
            InFlight above = two.enter(CALLS, KEY, 2);
            // Unless the renewal was faster.
            long over = above.allowed() ? 2 : 0;
            Await.until("logged", () -> lines.of(Level.WARN, "RL-416").size() == 1);
            String line = lines.of(Level.WARN, "RL-416").get(0);
            assertTrue(line.contains(" " + over + " are held above the limit now"), line);
            first.close();
            above.close();
            Await.until("nothing is in flight", () -> free(two, CALLS) == 2);
        }
    }

    @Tag("long")
    @Test
    void thePermitsOfAKilledInstanceComeBack() throws Exception {
        Policy policy = FlightJvm.POLICY;
        RateLimiter here = instances.open();
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FlightJvm.class.getName(),
                        RedisServers.single(),
                        instances.prefix)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        long killed;
        try {
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(other.getInputStream(), StandardCharsets.UTF_8));
            assertTrue(lines.lines().anyMatch(FlightJvm.HOLDS::equals), "it holds all permits");
            // It renews them as long as it lives.
            long alive = System.nanoTime() + FlightJvm.HOLD.multipliedBy(2).toNanos();
            while (System.nanoTime() < alive) {
                assertEquals(0, free(here, policy));
            }
        } finally {
            killed = System.nanoTime();
            other.destroyForcibly().waitFor();
        }
        // By the time of Redis: nobody renews them any more.
        assertTrue(RedisServers.heldFor(instances.prefix).compareTo(FlightJvm.HOLD) <= 0);
        Await.until("all permits are free", () -> free(here, policy) == FlightJvm.LIMIT);
        // The last renewal was at most a third of it before the kill.
        long lasted = System.nanoTime() - killed;
        assertTrue(lasted >= FlightJvm.HOLD.dividedBy(2).toNanos(), "only " + lasted / 1_000_000 + " ms");
    }
}
