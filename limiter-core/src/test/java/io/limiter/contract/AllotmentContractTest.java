package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Backend;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.DenialReason;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.ManualTime;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.TestedBackend;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What buyers of a stock are told, on every backend. */
class AllotmentContractTest {
    private static final Instant START = Instant.parse("2026-11-27T09:00:00Z");
    private static final PartitionKey KEY = PartitionKey.global();

    private final ManualTime time = new ManualTime(micros(START));

    private static long micros(Instant instant) {
        return ChronoUnit.MICROS.between(Instant.EPOCH, instant);
    }

    private static Policy sale(long stock, long each, Duration hold) {
        Instant opens = START.plusSeconds(60);
        return Policy.of("sale", Limit.allotment(stock, each, hold, opens, opens.plusSeconds(3_600)));
    }

    private static Charge order(Policy sale, String member, long permits, String id) {
        return new Charge(sale, KEY, permits, id, PartitionKey.of(member));
    }

    private static DenialReason reason(RateLimiter limiter, Charge charge) {
        LimitOutcome outcome = limiter.tryAcquire(List.of(charge)).binding().orElseThrow();
        return outcome.allowed() ? DenialReason.QUOTA : outcome.reason();
    }

    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void eachReasonIsTold(TestedBackend tested) {
        Policy sale = sale(3, 2, Duration.ZERO);
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiter.on(backend)) {
            Decision early = limiter.tryAcquire(List.of(order(sale, "ann", 1, "a")));
            assertEquals(DenialReason.NOT_OPEN, early.binding().orElseThrow().reason());
            assertEquals(Duration.ofSeconds(60), early.retryAfter().orElseThrow());
            time.advance(Duration.ofSeconds(60));
            assertEquals(DenialReason.QUOTA, reason(limiter, order(sale, "ann", 2, "a")), "sold");
            assertEquals(DenialReason.ALREADY_HAD, reason(limiter, order(sale, "ann", 1, "b")));
            assertEquals(DenialReason.QUANTITY, reason(limiter, order(sale, "bob", 3, "c")));
            assertEquals(DenialReason.SOLD_OUT, reason(limiter, order(sale, "bob", 2, "c")));
            assertEquals(DenialReason.QUOTA, reason(limiter, order(sale, "bob", 1, "a")), "the id of another member");
            assertEquals(DenialReason.SOLD_OUT, reason(limiter, order(sale, "eve", 1, "a")));
            assertEquals(
                    DenialReason.ALREADY_HAD, reason(limiter, order(sale, "ann", 1, "d")), "also when all is sold");
            time.advance(Duration.ofSeconds(3_600));
            Decision late = limiter.tryAcquire(List.of(order(sale, "eve", 1, "e")));
            assertEquals(DenialReason.CLOSED, late.binding().orElseThrow().reason());
            assertTrue(late.retryAfter().isEmpty());
            assertTrue(limiter.tryAcquire(List.of(order(sale, "ann", 2, "a"))).allowed(), "an owner asks again");
        }
    }

    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void whoAsksAgainCanConfirmAndReturnOnce(TestedBackend tested) {
        Policy sale = sale(2, 1, Duration.ofMinutes(15));
        time.advance(Duration.ofSeconds(60));
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiter.on(backend)) {
            Decision first = limiter.tryAcquire(List.of(order(sale, "ann", 1, "a")));
            time.advance(Duration.ofMinutes(1));
            Decision again = limiter.tryAcquire(List.of(order(sale, "ann", 1, "a")));
            assertTrue(limiter.confirm(again));
            assertTrue(limiter.confirm(first), "it is confirmed already");
            assertFalse(limiter.refund(first));
            Decision bob = limiter.tryAcquire(List.of(order(sale, "bob", 1, "b")));
            Decision bobAgain = limiter.tryAcquire(List.of(order(sale, "bob", 1, "b")));
            assertTrue(limiter.refund(bob));
            assertFalse(limiter.refund(bobAgain), "returned once");
            assertFalse(limiter.confirm(bobAgain), "it was returned");
            Decision eve = limiter.tryAcquire(List.of(order(sale, "eve", 1, "b")));
            // It came a microsecond after that of the other one.
            time.advance(Duration.ofMinutes(15).plusNanos(1_000));
            assertFalse(limiter.confirm(eve), "the hold has run out");
            assertFalse(limiter.confirm(limiter.peek(List.of(order(sale, "eve", 1, "x")))), "a look buys nothing");
            assertEquals(1, limiter.peek(sale, KEY).remaining());
        }
    }

    /** Each of many members asks several times at once. */
    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void exactlyTheStockIsSoldAndEachRetryIsToldTheSame(TestedBackend tested) throws Exception {
        Policy sale = sale(25, 1, Duration.ZERO);
        time.advance(Duration.ofSeconds(60));
        ExecutorService threads = Executors.newFixedThreadPool(16);
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiter.on(backend)) {
            List<Callable<Boolean>> calls = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                Charge order = order(sale, "m" + i / 4, 1, "order " + i / 4);
                calls.add(() -> limiter.tryAcquire(List.of(order)).allowed());
            }
            List<Future<Boolean>> told = threads.invokeAll(calls);
            int owners = 0;
            for (int i = 0; i < told.size(); i += 4) {
                boolean owns = told.get(i).get();
                owners += owns ? 1 : 0;
                for (int j = i; j < i + 4; j++) {
                    assertEquals(owns, told.get(j).get(), "member " + i / 4);
                }
            }
            assertEquals(25, owners);
            assertEquals(0, limiter.peek(sale, KEY).remaining());
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void nobodyWaitsAndNoFailureModeSells() {
        Policy sale = sale(1, 1, Duration.ZERO);
        assertEquals(FailureMode.DENY, sale.onFailure());
        for (FailureMode mode : List.of(FailureMode.LOCAL, FailureMode.ALLOW)) {
            assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class, () -> sale.onFailure(mode))
                            .getMessage())
                    .startsWith("RL-174 "));
        }
        try (RateLimiter limiter = RateLimiter.on(InProcessBackend.create())) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> limiter.acquire(List.of(order(sale, "ann", 1, "a")), Duration.ofSeconds(1)));
        }
    }
}
