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
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.AtOnce;
import io.limiter.kit.Looks;
import io.limiter.kit.TestedBackend;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The answers to buyers of a stock, on every backend. */
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
        LimitOutcome outcome =
                limiter.tryAcquire(PermitRequest.of(List.of(charge))).binding().orElseThrow();
        return outcome.allowed() ? DenialReason.QUOTA : outcome.reason();
    }

    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void eachReasonIsTold(TestedBackend tested) {
        Policy sale = sale(3, 2, Duration.ZERO);
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            Decision early = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 1, "a"))));
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
            Decision late = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "eve", 1, "e"))));
            assertEquals(DenialReason.CLOSED, late.binding().orElseThrow().reason());
            assertTrue(late.retryAfter().isEmpty());
            assertTrue(
                    limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 2, "a"))))
                            .allowed(),
                    "an owner asks again");
        }
    }

    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void whoAsksAgainCanConfirmAndReturnOnce(TestedBackend tested) {
        Policy sale = sale(2, 1, Duration.ofMinutes(15));
        time.advance(Duration.ofSeconds(60));
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            Decision first = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 1, "a"))));
            time.advance(Duration.ofMinutes(1));
            Decision again = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 1, "a"))));
            assertTrue(limiter.confirm(again));
            assertTrue(limiter.confirm(first), "it is confirmed already");
            assertFalse(limiter.refund(first));
            Decision bob = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "bob", 1, "b"))));
            Decision bobAgain = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "bob", 1, "b"))));
            assertTrue(limiter.refund(bob));
            assertFalse(limiter.refund(bobAgain), "returned once");
            assertFalse(limiter.confirm(bobAgain), "it was returned");
            Decision eve = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "eve", 1, "b"))));
            // It came a microsecond after that of the other one.
            time.advance(Duration.ofMinutes(15).plusNanos(1_000));
            assertFalse(limiter.confirm(eve), "the hold has run out");
            assertFalse(
                    limiter.confirm(limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "eve", 1, "x")))
                            .withLook())),
                    "a look buys nothing");
            assertEquals(1, Looks.left(limiter, sale, KEY));
        }
    }

    /** Each of many members asks several times at once. */
    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void exactlyTheStockIsSoldAndEachRetryIsToldTheSame(TestedBackend tested) throws Exception {
        Policy sale = sale(25, 1, Duration.ZERO);
        time.advance(Duration.ofSeconds(60));
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            List<Callable<Boolean>> calls = new ArrayList<>();
            for (int i = 0; i < 300; i++) {
                Charge order = order(sale, "m" + i / 4, 1, "order " + i / 4);
                calls.add(() ->
                        limiter.tryAcquire(PermitRequest.of(List.of(order))).allowed());
            }
            List<Boolean> told = AtOnce.all(16, calls);
            int owners = 0;
            for (int i = 0; i < told.size(); i += 4) {
                boolean owns = told.get(i);
                owners += owns ? 1 : 0;
                for (int j = i; j < i + 4; j++) {
                    assertEquals(owns, told.get(j), "member " + i / 4);
                }
            }
            assertEquals(25, owners);
            assertEquals(0, Looks.left(limiter, sale, KEY));
        }
    }

    /** Else a client that buys one, and asks for two with the same id, would get the answer that it has two. */
    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void anIdWithAnotherQuantityIsNoRetry(TestedBackend tested) {
        Policy sale = sale(10, 3, Duration.ZERO);
        time.advance(Duration.ofSeconds(60));
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 1, "a"))))
                    .allowed());
            assertEquals(DenialReason.QUANTITY, reason(limiter, order(sale, "ann", 2, "a")));
            assertEquals(DenialReason.QUOTA, reason(limiter, order(sale, "ann", 1, "a")), "a retry");
            assertEquals(DenialReason.QUOTA, reason(limiter, order(sale, "bob", 2, "a")), "the id of another member");
            assertEquals(7, Looks.left(limiter, sale, KEY));
        }
    }

    /** A charge of the list is a retry: it wants nothing, and what denies the list does not return what was bought before. */
    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void aRetryAmongOthersKeepsItsPurchase(TestedBackend tested) {
        Policy sale = sale(3, 1, Duration.ofMinutes(15));
        time.advance(Duration.ofSeconds(60));
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            Charge ann = order(sale, "ann", 1, "a");
            Decision first = limiter.tryAcquire(PermitRequest.of(List.of(ann)));
            Decision both = limiter.tryAcquire(PermitRequest.of(List.of(ann, order(sale, "bob", 1, "b"))));
            assertTrue(both.allowed(), "only one of two wants something");
            assertEquals(1, Looks.left(limiter, sale, KEY));
            Decision late = limiter.tryAcquire(PermitRequest.of(
                    List.of(ann, order(sale, "cid", 1, "c"), order(sale, "dan", 1, "d"), order(sale, "bob", 1, "b"))));
            assertFalse(late.allowed(), "one is left for two");
            assertEquals(1, Looks.left(limiter, sale, KEY), "what the list took is given back, and nothing else");
            assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "eve", 1, "e"))))
                    .allowed());
            assertEquals(DenialReason.SOLD_OUT, reason(limiter, order(sale, "cid", 1, "c")));
            assertTrue(limiter.confirm(first), "it is still there");
            assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(ann))).allowed(), "sold out, and asked again");
        }
    }

    /** Limits hold together: another one may deny a retry for a while, with its own reason, and changes no purchase. */
    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void aRetryThatAnotherLimitDeniesIsAnsweredTheSameLater(TestedBackend tested) {
        Limit stock = sale(2, 1, Duration.ZERO).limits().get(0);
        Policy sale = Policy.of("sale", Limit.slidingZset(1, Duration.ofMinutes(10)), stock.withName("stock"));
        time.advance(Duration.ofSeconds(60));
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            Charge ann = order(sale, "ann", 1, "a");
            assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(ann))).allowed());
            assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(ann))).allowed(), "both limits know the id");
            time.advance(Duration.ofMinutes(10));
            assertTrue(
                    limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "bob", 1, "b"))))
                            .allowed(),
                    "sold out");
            for (int i = 0; i < 2; i++) {
                Decision denied = limiter.tryAcquire(PermitRequest.of(List.of(ann)));
                assertEquals(DenialReason.QUOTA, denied.binding().orElseThrow().reason());
                assertEquals(Duration.ofMinutes(10), denied.retryAfter().orElseThrow());
                assertTrue(denied.outcomes().get(1).allowed(), "by the stock it is allowed");
                assertEquals(0, denied.outcomes().get(1).remaining());
            }
            time.advance(Duration.ofMinutes(10));
            assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(ann))).allowed());
            assertEquals(
                    DenialReason.SOLD_OUT,
                    limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "eve", 1, "e"))))
                            .outcomes()
                            .get(1)
                            .reason());
        }
    }

    /** A stock counts until a day after it closes by the current clock, even if a call came at a later time. */
    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void aStockThatIsOverCountsAgainWhenTheClockStepsBack(TestedBackend tested) {
        Policy sale = sale(1, 1, Duration.ZERO);
        time.advance(Duration.ofSeconds(60));
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 1, "a"))))
                    .allowed());
            time.advance(Duration.ofHours(25));
            assertEquals(DenialReason.CLOSED, reason(limiter, order(sale, "ann", 1, "a")), "it is forgotten");
            time.setMicros(micros(START.plusSeconds(90)));
            assertEquals(DenialReason.SOLD_OUT, reason(limiter, order(sale, "bob", 1, "b")));
            assertEquals(DenialReason.QUOTA, reason(limiter, order(sale, "ann", 1, "a")), "and remembered");
        }
    }

    /** Long after a hold has run out, a call settles it; what its member has bought since with the same id stays known by it. */
    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void anIdThatCameAgainStaysThatOfTheLaterPurchase(TestedBackend tested) {
        Policy sale = sale(200, 2, Duration.ofMinutes(15));
        time.advance(Duration.ofSeconds(60));
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            assertTrue(
                    limiter.confirm(limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "zoe", 1, "z"))))),
                    "one is paid");
            for (int i = 0; i < 99; i++) {
                assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "m" + i, 1, "a"))))
                        .allowed());
            }
            time.advance(Duration.ofMinutes(16));
            assertEquals(199, Looks.left(limiter, sale, KEY), "all others have run out");
            Decision again = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "m98", 2, "a"))));
            assertTrue(again.allowed(), "the id of a hold that has run out is free");
            for (int i = 0; i < 9; i++) {
                assertEquals(
                        DenialReason.QUANTITY, reason(limiter, order(sale, "eve", 3, "e" + i)), "a call that settles");
            }
            assertTrue(
                    limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "m98", 2, "a"))))
                            .allowed(),
                    "asked again");
            assertEquals(197, Looks.left(limiter, sale, KEY), "bought once");
            assertEquals(DenialReason.ALREADY_HAD, reason(limiter, order(sale, "m98", 1, "b")));
            assertTrue(limiter.confirm(again));
        }
    }

    /** What has run out is counted at once, also where nobody buys. */
    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void aSaleWhoseHoldsHaveAllRunOutIsNotSoldOutForWhoLooks(TestedBackend tested) {
        Policy sale = sale(300, 100, Duration.ofMinutes(15));
        time.advance(Duration.ofSeconds(60));
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            PermitRequest look = PermitRequest.of(sale, KEY, 0).withLook();
            Decision first = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 100, "a"))));
            for (String member : List.of("bob", "eve")) {
                assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(order(sale, member, 100, "a"))))
                        .allowed());
            }
            assertEquals(0, limiter.tryAcquire(look).remaining());
            assertEquals(DenialReason.SOLD_OUT, reason(limiter, order(sale, "zoe", 1, "z")));
            time.advance(Duration.ofMinutes(15).plusNanos(2_000));
            for (int i = 0; i < 2; i++) {
                assertEquals(300, limiter.tryAcquire(look).remaining(), "a look writes nothing");
            }
            assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "zoe", 1, "z")))
                            .withLook())
                    .allowed());
            assertFalse(limiter.confirm(first));
            assertTrue(
                    limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 100, "b"))))
                            .allowed(),
                    "what a member had counts no more either");
            assertEquals(200, limiter.tryAcquire(look).remaining());
        }
    }

    /** Asked by looks, so that nothing is forgotten meanwhile. */
    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void whatAMemberHadIsCountedAtEachEndOfAHold(TestedBackend tested) {
        Policy sale = sale(100, 9, Duration.ofMinutes(15));
        time.advance(Duration.ofSeconds(60));
        long start = time.nowMicros();
        long minute = 60_000_000;
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            List<Decision> bought = new ArrayList<>();
            for (int i = 0; i < 10; i++) {
                time.setMicros(start + i * minute);
                Decision one = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 1, "a" + i))));
                assertTrue(one.allowed());
                bought.add(one);
                if (i == 3) {
                    assertTrue(limiter.refund(bought.get(2)));
                }
            }
            for (int i = 0; i < 10; i++) {
                time.setMicros(start + (15 + i) * minute);
                int has = i < 2 ? 8 - i : 9 - i;
                assertTrue(limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 9 - has, "b")))
                                .withLook())
                        .allowed());
                LimitOutcome more = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 10 - has, "b")))
                                .withLook())
                        .binding()
                        .orElseThrow();
                assertEquals(has == 0 ? DenialReason.QUANTITY : DenialReason.ALREADY_HAD, more.reason());
            }
        }
    }

    /** A call forgets a portion of a large purchase. If the clock steps back, the rest is on hold again, and belongs to nobody. */
    @ParameterizedTest
    @MethodSource("io.limiter.kit.Backends#all")
    void aLargePurchaseIsForgottenInPortions(TestedBackend tested) {
        Policy sale = sale(200, 150, Duration.ofMinutes(15));
        time.advance(Duration.ofSeconds(60));
        try (Backend backend = tested.open(time);
                RateLimiter limiter = RateLimiters.on(backend)) {
            PermitRequest look = PermitRequest.of(sale, KEY, 0).withLook();
            Decision ann = limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "ann", 120, "a"))));
            time.advance(Duration.ofMinutes(1));
            assertTrue(limiter.confirm(limiter.tryAcquire(PermitRequest.of(List.of(order(sale, "bob", 10, "b"))))));
            time.advance(Duration.ofMinutes(14));
            assertEquals(
                    DenialReason.QUANTITY, reason(limiter, order(sale, "eve", 151, "e")), "a call that forgets 50");
            assertEquals(190, limiter.tryAcquire(look).remaining());
            time.setMicros(micros(START.plusSeconds(120)));
            assertEquals(120, limiter.tryAcquire(look).remaining(), "70 are on hold again");
            assertFalse(limiter.confirm(ann), "they are no purchase");
            assertEquals(DenialReason.ALREADY_HAD, reason(limiter, order(sale, "ann", 81, "a")));
            assertEquals(DenialReason.QUOTA, reason(limiter, order(sale, "ann", 80, "a")), "a new one");
            assertEquals(40, limiter.tryAcquire(look).remaining());
        }
    }

    @Test
    void nobodyWaitsAndNoFailureModeSells() {
        Policy sale = sale(1, 1, Duration.ZERO);
        assertEquals(FailureMode.DENY, sale.onFailure());
        for (FailureMode mode : List.of(FailureMode.LOCAL, FailureMode.ALLOW)) {
            assertTrue(String.valueOf(assertThrows(IllegalArgumentException.class, () -> sale.withFailureMode(mode))
                            .getMessage())
                    .startsWith("RL-174 "));
        }
        try (RateLimiter limiter = RateLimiters.on(InProcessBackend.create())) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> limiter.acquire(PermitRequest.of(List.of(order(sale, "ann", 1, "a")))
                            .withMaxWait(Duration.ofSeconds(1))));
        }
    }
}
