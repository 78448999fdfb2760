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
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Await;
import io.limiter.kit.Backends;
import io.limiter.kit.LogLines;
import io.limiter.kit.Looks;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.Jedis;

/**
 * Calls in flight on a real Redis: several instances, policies and slots; also those whose state Redis has lost, or whose answers were, or
 * whose instance was killed.
 */
class FlightsOnRedisTest {
    private static final PartitionKey KEY = PartitionKey.of("key");
    /** Its permits are renewed every four seconds. */
    private static final Policy CALLS =
            Policy.of("overrun", Limit.concurrent(2, Duration.ofSeconds(12))).withFailureMode(FailureMode.DENY);

    private static final Policy SLOW =
            Policy.of("slow", Limit.concurrent(2, Duration.ofMinutes(10))).withFailureMode(FailureMode.DENY);
    private static final Policy RATE =
            Policy.of("rate", Limit.fixedWindow(1, Duration.ofHours(1))).withFailureMode(FailureMode.DENY);
    private static final Policy TOKENS = Policy.of("tokens", Limit.fixedWindow(100, Duration.ofHours(1)))
            .withHolds(10)
            .withFailureMode(FailureMode.DENY);
    private static final List<Charge> TOGETHER = List.of(new Charge(SLOW, KEY, 1), new Charge(TOKENS, KEY, 50));
    private static final int EACH = Repeats.of(1_500, 15_000);

    private final String prefix = "flights-" + System.nanoTime();
    private final List<RateLimiter> opened = new ArrayList<>();

    @AfterEach
    void close() {
        opened.forEach(RateLimiter::close);
        opened.clear();
    }

    /** An instance at the Redis that all tests share. */
    private RateLimiter open() {
        return open(Backends.single());
    }

    private RateLimiter open(RedisBackend.Builder backend) {
        RateLimiter limiter = RateLimiters.builder(Backends.connected(backend.prefix(prefix)))
                .fallback(InProcessBackend.create())
                .build();
        opened.add(limiter);
        return limiter;
    }

    /** Permits of the key that no call holds. */
    private static long free(RateLimiter limiter, Policy policy) {
        return Looks.at(limiter, policy, KEY).outcomes().get(0).remaining();
    }

    /** Redis loses all states. */
    private void forget() {
        try (Jedis redis = RedisServers.jedis()) {
            redis.keys(prefix + "*").forEach(redis::del);
        }
    }

    @Test
    void calledOffWhileItIsAskedItHoldsNothing() {
        RateLimiter one = open();
        PermitRequest request = PermitRequest.of(SLOW, KEY, 1);
        for (int i = 0; i < 50; i++) {
            CompletableFuture<InFlight> call = one.enterAsync(request);
            if (!call.cancel(false)) {
                call.join().close();
            }
        }
        Await.until("all are decided", () -> decided(one, "slow") == 50);
        Await.until("nothing is in flight", () -> free(one, SLOW) == 2);
        CompletableFuture<Hold> reserving = one.reserveAsync(TOGETHER, Duration.ofMinutes(1));
        if (!reserving.cancel(false)) {
            one.cancel(reserving.join());
        }
        Await.until("it is decided", () -> decided(one, "tokens") == 1);
        Await.until("nothing is reserved", () -> free(one, TOKENS) == 100);
        Await.until("nothing is in flight", () -> free(one, SLOW) == 2);
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
        RateLimiter one = open(Backends.single().denialMaxAge(Duration.ofSeconds(60)));
        InFlight first = one.enter(SLOW, KEY, 2);
        assertEquals(Decision.Source.REDIS, one.enter(SLOW, KEY, 1).decision().source());
        // It is remembered for a tenth of a second, whatever is set.
        Await.until("a denial from memory", () -> {
            Decision denied = one.enter(SLOW, KEY, 1).decision();
            assertTrue(denied.isRetryUnknown());
            return denied.source() == Decision.Source.CACHED_DENIAL;
        });
        assertTrue(one.refund(first.decision()));
        assertTrue(one.enter(SLOW, KEY, 1).allowed());
    }

    /** Of keys in many slots, which one command may have: what a call holds stands behind the form of its batch. */
    @Test
    void aBatchOfSeveralSlotsMayBeginWithACallThatHoldsNothing() {
        RateLimiter one = open(Backends.sharedCluster());
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
                    "only the rates are used",
                    () -> Looks.left(one, charge.policy(), charge.key()) == (charge.policy() == RATE ? 0 : 2));
        }
        assertEquals(0, one.monitor().inFlight("slow"));
    }

    /** Only what a clock that stepped back has lengthened is cut, and nothing that its instance renews. */
    @Test
    void aShorterHoldLeavesTheOthers() {
        RateLimiter one = open();
        one.enter(SLOW, KEY, 1);
        Policy changed =
                Policy.of("slow", Limit.concurrent(2, Duration.ofSeconds(1))).withFailureMode(FailureMode.DENY);
        for (int i = 0; i < 3; i++) {
            one.enter(changed, KEY, 1).close();
        }
        Duration held = RedisServers.heldFor(prefix);
        // Its next renewal is at most 10 s later.
        assertTrue(held.compareTo(Duration.ofSeconds(15)) > 0, held::toString);
    }

    /** Renewals, repetitions and ends of many calls cross each other. */
    @Test
    void nothingIsLeftBehindTheEnds() throws Exception {
        RedisBackend backend = Backends.connected(Backends.single().prefix(prefix));
        Policy many = Policy.of("many", Limit.concurrent(1_000, Duration.ofSeconds(1)))
                .withFailureMode(FailureMode.DENY);
        try (RateLimiter one = RateLimiters.on(backend)) {
            AtOnce.run(8, thread -> {
                Deque<InFlight> mine = new ArrayDeque<>();
                for (int i = 0; i < EACH; i++) {
                    mine.add(one.enter(many, KEY, 1));
                    if (mine.size() > 100) {
                        mine.remove().close();
                    }
                    if (i % 100 == 50 && i < EACH / 2) {
                        forget();
                    }
                }
                mine.forEach(InFlight::close);
            });
            Await.until("all ends are answered", () -> backend.flights.size() == 0);
            try (Jedis redis = RedisServers.jedis()) {
                assertEquals(Set.of(), redis.keys(prefix + "*"));
            }
        }
    }

    /** Without waiting for what it holds to run out. */
    @Test
    void anInstanceThatStopsEndsWhatItHolds() {
        RateLimiter one = open();
        one.enter(SLOW, KEY, 2);
        close();
        assertEquals(2, free(open(), SLOW));
    }

    @Test
    void anOverrunIsLogged() {
        try (LogLines lines = new LogLines().about("policy 'overrun'")) {
            RateLimiter one = open();
            RateLimiter two = open();
            InFlight first = one.enter(CALLS, KEY, 2);
            forget();
            InFlight above = two.enter(CALLS, KEY, 2);
            // Unless the renewal was faster.
            long over = above.allowed() ? 2 : 0;
            Await.until("logged", () -> !lines.of(Level.WARN, "RL-416").isEmpty());
            String line = lines.of(Level.WARN, "RL-416").get(0);
            assertTrue(line.contains(" " + over + " are held above the limit now"), line);
            first.close();
            above.close();
            Await.until("nothing is in flight", () -> free(two, CALLS) == 2);
        }
    }

    /** With a hold of a second: 3 333, of which each takes 100 µs of a third of a second. */
    @Test
    void noMoreBeginThanCanBeRenewed() {
        Policy many = Policy.of("many", Limit.concurrent(10_000, Duration.ofSeconds(1)))
                .withFailureMode(FailureMode.DENY);
        PermitRequest request = PermitRequest.of(many, KEY, 1).withEnd();
        List<Decision> begun = new ArrayList<>();
        try (LogLines lines = new LogLines().about("policy 'many'")) {
            RateLimiter one = open();
            // Not by the first one that is denied: so many renewals can delay others too long.
            Await.until("denied here", () -> {
                one.acquireEachAsync(Collections.nCopies(100, request)).forEach(each -> begun.add(each.join()));
                return begun.get(begun.size() - 1).source() == Decision.Source.CACHED_DENIAL;
            });
            assertTrue(begun.stream().filter(Decision::allowed).count() < 3_500);
            assertEquals(Decision.Source.CACHED_DENIAL, one.tryAcquire(request).source());
            assertFalse(lines.of(Level.WARN, "RL-417").isEmpty());
            begun.forEach(one::end);
            Await.until("a further one may begin", () -> one.tryAcquire(request).allowed());
        }
    }

    @Tag("long")
    @Test
    void thePermitsOfAKilledInstanceComeBack() throws Exception {
        Policy policy = FlightJvm.POLICY;
        RateLimiter here = open();
        Process other = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx128m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        FlightJvm.class.getName(),
                        RedisServers.single(),
                        prefix)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        long killed;
        try {
            BufferedReader lines =
                    new BufferedReader(new InputStreamReader(other.getInputStream(), StandardCharsets.UTF_8));
            assertTrue(lines.lines().anyMatch(FlightJvm.HOLDS::equals), "it holds all permits");
            // It renews them as long as it lives.
            long alive = System.nanoTime()
                    + FlightJvm.HOLD.multipliedBy(3).dividedBy(2).toNanos();
            while (System.nanoTime() < alive) {
                assertEquals(0, free(here, policy));
            }
        } finally {
            killed = System.nanoTime();
            other.destroyForcibly().waitFor();
        }
        // By the time of Redis: nobody renews them any more.
        assertTrue(RedisServers.heldFor(prefix).compareTo(FlightJvm.HOLD) <= 0);
        Await.until("all permits are free", () -> free(here, policy) == FlightJvm.LIMIT);
        // The last renewal was at most a third of it before the kill.
        long lasted = System.nanoTime() - killed;
        assertTrue(lasted >= FlightJvm.HOLD.dividedBy(2).toNanos(), "only " + lasted / 1_000_000 + " ms");
    }
}
