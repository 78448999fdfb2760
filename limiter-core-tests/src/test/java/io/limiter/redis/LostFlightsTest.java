package io.limiter.redis;

import static io.limiter.redis.FlightInstances.CALLS;
import static io.limiter.redis.FlightInstances.KEY;
import static io.limiter.redis.FlightInstances.SLOW;
import static io.limiter.redis.FlightInstances.SOON;
import static io.limiter.redis.FlightInstances.free;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor.FlightCount;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.internal.Access;
import io.limiter.kit.Await;
import io.limiter.kit.Harm;
import io.limiter.kit.LogLines;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Wire;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;

/** Calls in flight whose state Redis has lost, or whose answers were, or whose instance was killed. */
class LostFlightsTest {
    private final FlightInstances instances = new FlightInstances();

    @AfterEach
    void close() {
        instances.close();
    }

    /** Nothing can be asked before this instance has its permits back. */
    @Test
    void whatRedisHasLostIsHeldAgainBeforeTheFirstQuestion() {
        RateLimiter one = instances.open();
        one.enter(SLOW, KEY, 2);
        instances.forget();
        assertFalse(one.enter(SLOW, KEY, 1).allowed());
        assertEquals(2, one.monitor().inFlight("slow", FlightCount.LOST));
        assertEquals(0, one.monitor().inFlight("slow", FlightCount.OVERRUN));
    }

    @Test
    void theEndOfACallThatRedisHasLostKeepsTheOthers() {
        RateLimiter one = instances.open();
        InFlight first = one.enter(SLOW, KEY, 1);
        one.enter(SLOW, KEY, 1);
        instances.forget();
        assertTrue(one.refund(first.decision()));
        assertEquals(1, free(one, SLOW));
    }

    /** Neither knows yet that Redis has lost them when it is sent. Where their keys have moved, nothing ran the first time. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void twoEndsAtOnceKeepTheThird(boolean areSentAgain) {
        RedisKeys keys = new RedisKeys(instances.prefix, null);
        List<Call.Part> ends = new ArrayList<>();
        CallsInFlight flights = new CallsInFlight(keys, all -> new CallsInFlight.Sender() {
            @Override
            public void begin() {}

            @Override
            public void renew(Stream<FlightEntry> entries) {}

            @Override
            public void end(Call.Part part) {
                ends.add(part);
            }
        });
        Charge one = new Charge(Policy.of("slow", Limit.concurrent(3)), KEY, 1);
        List<LimitOutcome> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            calls.addAll(run(flights.begin(Call.parts(keys, List.of(one), Call.TAKE, none -> 0))));
        }
        instances.forget();
        calls.subList(0, 2)
                .forEach(call ->
                        Objects.requireNonNull(call.holder(Access.LIBRARY)).end(call));
        for (Call.Part end : ends) {
            if (areSentAgain) {
                Command.of(List.of(Call.now(List.of(end), SOON, false)), null);
            }
            run(List.of(end));
        }
        assertEquals(
                2,
                run(Call.parts(keys, List.of(new Charge(one.policy(), KEY, 0)), Call.LOOK, none -> 0))
                        .get(0)
                        .remaining());
    }

    @SuppressWarnings("unchecked") // the scripts' reply is a list
    private static List<LimitOutcome> run(List<Call.Part> parts) {
        Call call = Call.now(parts, SOON, false);
        Command command = Command.of(List.of(call), null);
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            call.deliver(command.replies((List<Object>) redis.eval(
                            command.script().text(),
                            command.keys().stream().map(String::valueOf).toList(),
                            command.arguments().stream().map(String::valueOf).toList()))
                    .get(0));
        }
        return call.outcomes();
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
            Await.until(SOON, "held again", () -> one.monitor().inFlight("calls", FlightCount.LOST) == 2);
            assertEquals(over, one.monitor().inFlight("calls", FlightCount.OVERRUN));
            assertEquals(1, lines.of(Level.WARN, "RL-416").size(), lines::toString);
            first.close();
            above.close();
            Await.until(SOON, "nothing is in flight", () -> free(two, CALLS) == 2);
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
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            redis.keys("*" + instances.prefix + "*")
                    .forEach(key -> assertTrue(redis.pttl(key) <= FlightJvm.HOLD.toMillis(), key));
        }
        Await.until(Duration.ofSeconds(60), "all permits are free", () -> free(here, policy) == FlightJvm.LIMIT);
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
            Await.until(SOON, "Redis knows what is held", () -> free(two, SLOW) == 2 - holds);
            held.close();
            Await.until(SOON, "nothing is in flight", () -> free(two, SLOW) == 2);
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
            Await.until(SOON, "Redis holds it", () -> free(two, local) == 0);
            first.close();
            Await.until(SOON, "nothing is in flight", () -> free(two, local) == 2);
            assertEquals(0, one.monitor().inFlight("calls"));
        }
    }

    /** Whichever comes first after the outage: a renewal, or a question. */
    @Test
    void whatTheLocalShareGrantsIsKnownBeforeTheFirstQuestion() throws IOException {
        Policy local = SLOW.withFailureMode(FailureMode.LOCAL);
        try (Wire wire = Wire.to(RedisServers.singlePort())) {
            RateLimiter one = instances.open("redis://127.0.0.1:" + wire.port());
            for (int i = 0; i < 2; i++) {
                wire.cut();
                InFlight first = one.enter(local, KEY, 1);
                InFlight second = one.enter(local, KEY, 1);
                assertEquals(Decision.Source.LOCAL_FALLBACK, second.decision().source());
                wire.repair();
                Await.until(SOON, "Redis answers", () -> {
                    InFlight third = one.enter(local, KEY, 1);
                    assertFalse(third.allowed(), third.decision()::toString);
                    return third.decision().source() != Decision.Source.LOCAL_FALLBACK;
                });
                first.close();
                second.close();
                Await.until(SOON, "nothing is in flight", () -> free(one, local) == 2);
            }
        }
    }
}
