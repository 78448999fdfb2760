package io.limiter.redis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Hold;
import io.limiter.InFlight;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.LimiterMonitor.FlightCount;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.Settlement;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.internal.Access;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
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
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/** Calls in flight on a real Redis: instances that die, answers that are lost, and states that are. */
class FlightsOnRedisTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final PartitionKey KEY = PartitionKey.of("key");
    private static final Policy CALLS =
            Policy.of("calls", Limit.concurrent(2, Duration.ofSeconds(1))).withFailureMode(FailureMode.DENY);
    private static final Policy RATE =
            Policy.of("rate", Limit.fixedWindow(1, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);
    private static final Policy SLOW = Policy.of("slow", Limit.concurrent(2)).withFailureMode(FailureMode.DENY);

    private static final Policy TOKENS = Policy.of("tokens", Limit.fixedWindow(100, Duration.ofHours(1)))
            .withHolds(10)
            .withFailureMode(FailureMode.DENY);
    private static final List<Charge> TOGETHER = List.of(new Charge(SLOW, KEY, 1), new Charge(TOKENS, KEY, 50));

    private final String prefix = "flights-" + System.nanoTime();
    private final List<RateLimiter> opened = new ArrayList<>();

    private RateLimiter limiter(String address) {
        RateLimiter limiter = RateLimiters.builder(Backends.connected(
                        RedisBackend.builder().prefix(prefix).address(address).deadline(Duration.ofSeconds(1))))
                .fallback(InProcessBackend.create())
                .build();
        opened.add(limiter);
        return limiter;
    }

    @AfterEach
    void close() {
        opened.forEach(RateLimiter::close);
    }

    private static long free(RateLimiter limiter, Policy policy) {
        return limiter.tryAcquire(PermitRequest.of(policy, KEY, 0).withLook())
                .outcomes()
                .get(0)
                .remaining();
    }

    private void forget() {
        try (Jedis redis = new Jedis("127.0.0.1", RedisServers.singlePort())) {
            redis.keys(prefix + "*").forEach(redis::del);
        }
    }

    @Test
    void instancesShareTheLimitAndRenewTheirPermits() {
        RateLimiter one = limiter(RedisServers.single());
        RateLimiter two = limiter(RedisServers.single());
        InFlight first = one.enter(CALLS, KEY, 1);
        InFlight second = two.enter(CALLS, KEY, 1);
        long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
        while (System.nanoTime() < end) {
            assertFalse(one.enter(CALLS, KEY, 1).allowed());
            assertFalse(two.enter(CALLS, KEY, 1).allowed());
        }
        first.close();
        Await.until(SOON, "the other's permit is free", () -> free(two, CALLS) == 1);
        second.close();
        Await.until(SOON, "nothing is in flight", () -> free(one, CALLS) == 2);
        assertEquals(0, one.monitor().inFlight("calls", FlightCount.LOST));
    }

    @Test
    void calledOffWhileItIsAskedItHoldsNothing() {
        RateLimiter one = limiter(RedisServers.single());
        PermitRequest request = PermitRequest.of(SLOW, KEY, 1);
        for (int i = 0; i < 50; i++) {
            CompletableFuture<InFlight> call = one.enterAsync(request);
            if (!call.cancel(false)) {
                call.join().close();
            }
        }
        Await.until(SOON, "all are decided", () -> decided(one, "slow") == 50);
        Await.until(SOON, "nothing is in flight", () -> free(one, SLOW) == 2);
        CompletableFuture<Hold> reserving = one.reserveAsync(TOGETHER, Duration.ofMinutes(1));
        if (!reserving.cancel(false)) {
            one.cancel(reserving.join());
        }
        Await.until(SOON, "it is decided", () -> decided(one, "tokens") == 1);
        Await.until(SOON, "nothing is reserved", () -> free(one, TOKENS) == 100);
        Await.until(SOON, "nothing is in flight", () -> free(one, SLOW) == 2);
        assertEquals(0, one.monitor().inFlight("slow"));
    }

    private static long decided(RateLimiter limiter, String policy) {
        return Stream.of(Decision.Source.values())
                .mapToLong(source -> limiter.monitor().allowed(policy, source)
                        + limiter.monitor().denied(policy, source))
                .sum();
    }

    @Test
    void aDenialIsForgottenWhenACallEndsHere() {
        RateLimiter one = limiter(RedisServers.single());
        InFlight first = one.enter(SLOW, KEY, 2);
        assertEquals(Decision.Source.REDIS, one.enter(SLOW, KEY, 1).decision().source());
        assertEquals(
                Decision.Source.CACHED_DENIAL,
                one.enter(SLOW, KEY, 1).decision().source());
        assertTrue(one.enter(SLOW, KEY, 1).decision().isRetryUnknown());
        assertTrue(one.refund(first.decision()));
        assertTrue(one.enter(SLOW, KEY, 1).allowed());
    }

    /** Nothing can be asked before this instance has its permits back. */
    @Test
    void whatRedisHasLostIsHeldAgainBeforeTheFirstQuestion() {
        RateLimiter one = limiter(RedisServers.single());
        one.enter(SLOW, KEY, 2);
        forget();
        assertFalse(one.enter(SLOW, KEY, 1).allowed());
        assertEquals(2, one.monitor().inFlight("slow", FlightCount.LOST));
        assertEquals(0, one.monitor().inFlight("slow", FlightCount.OVERRUN));
    }

    @Test
    void theEndOfACallThatRedisHasLostKeepsTheOthers() {
        RateLimiter one = limiter(RedisServers.single());
        InFlight first = one.enter(SLOW, KEY, 1);
        one.enter(SLOW, KEY, 1);
        forget();
        assertTrue(one.refund(first.decision()));
        assertEquals(1, free(one, SLOW));
    }

    /** Neither knows yet that Redis has lost them when it is sent. */
    @Test
    void twoEndsAtOnceKeepTheThird() {
        RedisKeys keys = new RedisKeys(prefix, null);
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
        forget();
        calls.subList(0, 2)
                .forEach(call ->
                        Objects.requireNonNull(call.holder(Access.LIBRARY)).end(call));
        ends.forEach(end -> run(List.of(end)));
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
        try (LogLines lines = new LogLines()) {
            RateLimiter one = limiter(RedisServers.single());
            RateLimiter two = limiter(RedisServers.single());
            InFlight first = one.enter(CALLS, KEY, 2);
            forget();
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

    @Test
    void thePermitsOfAKilledInstanceComeBack() throws Exception {
        Policy policy = FlightJvm.POLICY;
        RateLimiter here = limiter(RedisServers.single());
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FlightJvm.class.getName(),
                        RedisServers.single(),
                        prefix)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
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
            other.destroyForcibly().waitFor();
        }
        long killed = System.nanoTime();
        Await.until(FlightJvm.HOLD.plusSeconds(1), "all permits are free", () -> free(here, policy) == FlightJvm.LIMIT);
        // The last renewal was at most a third of it before the kill.
        long lasted = System.nanoTime() - killed;
        assertTrue(lasted >= FlightJvm.HOLD.dividedBy(2).toNanos(), "only " + lasted / 1_000_000 + " ms");
    }

    /** Some answers never come, so neither side knows what the other does. */
    @Test
    void lostAnswersAreCorrected() throws IOException {
        try (Wire wire = Wire.to(RedisServers.singlePort())) {
            RateLimiter one = limiter("redis://127.0.0.1:" + wire.port());
            RateLimiter two = limiter(RedisServers.single());
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
            RateLimiter one = limiter("redis://127.0.0.1:" + wire.port());
            RateLimiter two = limiter(RedisServers.single());
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
            RateLimiter one = limiter("redis://127.0.0.1:" + wire.port());
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

    private RateLimiter inCluster() {
        RateLimiter one = RateLimiters.on(Backends.connected(RedisBackend.builder()
                .prefix(prefix)
                .cluster(RedisServers.cluster())
                .deadline(Duration.ofSeconds(10))));
        opened.add(one);
        return one;
    }

    @Test
    void aDenialByAnotherPolicyTakesNoPermitInAClusterToo() {
        RateLimiter one = inCluster();
        List<Charge> charges = List.of(new Charge(SLOW, KEY, 1), new Charge(RATE, PartitionKey.of("other"), 1));
        InFlight first = one.enter(charges);
        assertTrue(first.allowed());
        assertFalse(one.enter(charges).allowed());
        assertEquals(1, free(one, SLOW));
        first.close();
        Await.until(SOON, "nothing is in flight", () -> free(one, SLOW) == 2);
    }

    /** Of keys in many slots, which one command may have: what a call holds stands behind the form of its batch. */
    @Test
    void aBatchOfSeveralSlotsMayBeginWithACallThatHoldsNothing() {
        RateLimiter one = inCluster();
        List<PermitRequest> requests = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            PartitionKey key = PartitionKey.of("key" + i);
            requests.add(PermitRequest.of(i % 3 == 0 ? RATE : SLOW, key, 1).withEnd());
        }
        List<Decision> first = one.acquireEachAsync(requests).stream()
                .map(CompletableFuture::join)
                .toList();
        assertTrue(first.stream().allMatch(Decision::allowed), first::toString);
        List<Decision> second = one.acquireEachAsync(requests).stream()
                .map(CompletableFuture::join)
                .toList();
        for (int i = 0; i < 30; i++) {
            boolean isRate = i % 3 == 0;
            assertEquals(!isRate, second.get(i).allowed(), second.get(i)::toString);
            assertTrue(isRate || second.get(i).remaining() == 0, second.get(i)::toString);
        }
        first.forEach(one::end);
        second.forEach(one::end);
        for (PermitRequest request : requests) {
            Charge charge = request.charges().get(0);
            Await.until(
                    SOON,
                    "only the rates are used",
                    () -> one.tryAcquire(PermitRequest.of(charge.policy(), charge.key(), 0)
                                            .withLook())
                                    .remaining()
                            == (charge.policy() == RATE ? 0 : 2));
        }
        assertEquals(0, one.monitor().inFlight("slow"));
    }

    /** In one command; what is not reserved is simply taken. */
    @Test
    void aReservationMayBeACallInFlightToo() {
        RateLimiter one = limiter(RedisServers.single());
        Hold hold = one.reserve(TOGETHER, Duration.ofMinutes(1));
        assertTrue(hold.allowed());
        assertEquals(1, free(one, SLOW));
        assertEquals(1, one.monitor().inFlight("slow"));
        Hold second = one.reserve(TOGETHER, Duration.ofMinutes(1));
        assertTrue(second.allowed());
        one.end(second.decision());
        Hold third = one.reserve(TOGETHER, Duration.ofMinutes(1));
        assertFalse(third.allowed());
        assertEquals(1, free(one, SLOW));
        assertEquals(Settlement.SETTLED, one.settle(hold, 20));
        assertEquals(30, free(one, TOKENS));
        one.end(hold.decision());
        Await.until(SOON, "nothing is in flight", () -> free(one, SLOW) == 2);
    }

    /** A policy with another limit, hold and rate: the permit goes back to the state that it was taken from. */
    @Test
    void aCallThatBeganUnderAnotherPolicyEndsInItsState() {
        RateLimiter one = limiter(RedisServers.single());
        InFlight first = one.enter(SLOW, KEY, 1);
        Policy changed =
                Policy.of("slow", Limit.concurrent(1, Duration.ofMinutes(10))).withFailureMode(FailureMode.DENY);
        assertFalse(one.enter(changed, KEY, 1).allowed());
        first.close();
        Await.until(SOON, "it is free under the new policy", () -> {
            InFlight next = one.enter(changed, KEY, 1);
            next.close();
            return next.allowed();
        });
    }
}
