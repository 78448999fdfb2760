package io.limiter.redis;

import static io.limiter.redis.FlightInstances.CALLS;
import static io.limiter.redis.FlightInstances.KEY;
import static io.limiter.redis.FlightInstances.SLOW;
import static io.limiter.redis.FlightInstances.free;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.LimiterMonitor.FlightCount;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.Harm;
import io.limiter.kit.LogLines;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import io.limiter.kit.Wire;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;
import redis.embedded.RedisServer;

/** Calls in flight whose state Redis has lost, or whose answers were, or whose instance was killed. */
class LostFlightsTest {
    private static final Duration HOLD = Duration.ofSeconds(1);
    private static final int EACH = Repeats.of(1_500, 15_000);

    private final FlightInstances instances = new FlightInstances();

    @AfterEach
    void close() {
        instances.close();
    }

    /** By the next renewal. */
    @Test
    void whatRedisHasLostIsHeldAgain() {
        RateLimiter one = instances.open();
        Policy many = Policy.of("many", Limit.concurrent(60, HOLD)).withFailureMode(FailureMode.DENY);
        List<InFlight> calls =
                Stream.generate(() -> one.enter(many, KEY, 1)).limit(50).toList();
        assertEquals(10, free(one, many));
        instances.forget();
        Await.until("all are counted", () -> one.monitor().inFlight("many", FlightCount.LOST) == 50);
        assertEquals(10, free(one, many));
        assertEquals(0, one.monitor().inFlight("many", FlightCount.OVERRUN));
        calls.forEach(InFlight::close);
        Await.until("nothing is in flight", () -> free(one, many) == 60);
    }

    /** What is asked while it is paused is ended by its id, though nobody knows whether it was granted. */
    @Test
    void aPausedRedisKeepsNothing() {
        int port = RedisServers.freePort();
        RedisServer server = RedisServers.start(port);
        RateLimiter one = instances.impatient("redis://127.0.0.1:" + port);
        Policy twenty = Policy.of("twenty", Limit.concurrent(20, Duration.ofMinutes(10)))
                .withFailureMode(FailureMode.DENY);
        try {
            long pid = RedisServers.pid(port);
            List<InFlight> calls = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                RedisServers.signal("STOP", pid);
                long paused = System.nanoTime();
                while (System.nanoTime() - paused < 200_000_000) {
                    calls.add(one.enter(twenty, KEY, 1));
                }
                RedisServers.signal("CONT", pid);
                calls.forEach(InFlight::close);
                Await.until("nothing is in flight", () -> isFree(one, twenty));
            }
            assertTrue(calls.stream().anyMatch(call -> !call.allowed()), "it was never paused");
        } finally {
            instances.close();
            RedisServers.stop(server);
        }
    }

    private static boolean isFree(RateLimiter limiter, Policy policy) {
        Decision look = Looks.at(limiter, policy, KEY);
        return look.source() == Decision.Source.REDIS && look.remaining() == 20;
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
            try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
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
    void anOverrunIsCountedAndLogged() {
        try (LogLines lines = new LogLines().about("policy 'calls'")) {
            RateLimiter one = instances.open();
            RateLimiter two = instances.open();
            InFlight first = one.enter(CALLS, KEY, 2);
            instances.forget();
            InFlight above = two.enter(CALLS, KEY, 2);
            // Unless the renewal was faster.
            long over = above.allowed() ? 2 : 0;
            Await.until("held again", () -> one.monitor().inFlight("calls", FlightCount.LOST) == 2);
            // After it was counted.
            Await.until("logged", () -> lines.of(Level.WARN, "RL-416").size() == 1);
            assertEquals(over, one.monitor().inFlight("calls", FlightCount.OVERRUN));
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

    /** Some answers never come, so neither side knows what the other does. */
    @Test
    void lostAnswersAreCorrected() throws IOException {
        try (Wire wire = Wire.to(RedisServers.singlePort())) {
            RateLimiter one = instances.open("redis://127.0.0.1:" + wire.port());
            RateLimiter two = instances.open();
            wire.harm(Harm.reset());
            for (int i = 0; i < 60; i++) {
                one.enter(SLOW, KEY, 1).close();
            }
            InFlight held = one.enter(SLOW, KEY, 1);
            wire.harm(Harm.NONE);
            long holds = held.allowed() ? 1 : 0;
            Await.until("Redis knows what is held", () -> free(two, SLOW) == 2 - holds);
            held.close();
            Await.until("nothing is in flight", () -> free(two, SLOW) == 2);
        }
    }

    /** The other instance can ask Redis meanwhile. */
    @Test
    void whatTheLocalShareGrantsIsHeldInRedisAfterwards() throws IOException {
        Policy local = CALLS.withFailureMode(FailureMode.LOCAL);
        try (Wire wire = Wire.to(RedisServers.singlePort())) {
            RateLimiter one = instances.open("redis://127.0.0.1:" + wire.port());
            RateLimiter two = instances.open();
            wire.cut();
            InFlight first = one.enter(local, KEY, 2);
            assertEquals(Decision.Source.LOCAL_FALLBACK, first.decision().source());
            assertFalse(one.enter(local, KEY, 1).allowed());
            wire.repair();
            Await.until("Redis holds it", () -> free(two, local) == 0);
            first.close();
            Await.until("nothing is in flight", () -> free(two, local) == 2);
            assertEquals(0, one.monitor().inFlight("calls"));
        }
    }
}
