package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.FailureMode;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.LimitOutcome.DenialReason;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.RateLimiter;
import io.limiter.engine.RateLimiters;
import io.limiter.inprocess.InProcessBackend;
import io.limiter.kit.AtOnce;
import io.limiter.kit.OnEachBackend;
import io.limiter.kit.OpenBackend;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** The answers to buyers of a stock, on every backend. */
class AllotmentContractTest {
    private static final Instant START = Instant.parse("2026-11-27T09:00:00Z");
    private static final long OPENS = micros(START.plusSeconds(60));
    private static final PartitionKey KEY = PartitionKey.global();

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

    private static DenialReason reason(OpenBackend on, Charge charge) {
        LimitOutcome outcome = on.take(charge).binding().orElseThrow();
        return outcome.allowed() ? DenialReason.QUOTA : outcome.reason();
    }

    @OnEachBackend
    void eachReasonIsTold(OpenBackend on) {
        on.time.setMicros(micros(START));
        Policy sale = sale(3, 2, Duration.ZERO);
        Decision early = on.take(order(sale, "ann", 1, "a"));
        assertEquals(DenialReason.NOT_OPEN, early.binding().orElseThrow().reason());
        assertEquals(Duration.ofSeconds(60), early.retryAfter().orElseThrow());
        on.time.advance(Duration.ofSeconds(60));
        assertEquals(DenialReason.QUOTA, reason(on, order(sale, "ann", 2, "a")), "sold");
        assertEquals(DenialReason.ALREADY_HAD, reason(on, order(sale, "ann", 1, "b")));
        assertEquals(DenialReason.QUANTITY, reason(on, order(sale, "bob", 3, "c")));
        assertEquals(DenialReason.SOLD_OUT, reason(on, order(sale, "bob", 2, "c")));
        assertEquals(DenialReason.QUOTA, reason(on, order(sale, "bob", 1, "a")), "the id of another member");
        assertEquals(DenialReason.SOLD_OUT, reason(on, order(sale, "eve", 1, "a")));
        assertEquals(DenialReason.ALREADY_HAD, reason(on, order(sale, "ann", 1, "d")), "also when all is sold");
        on.time.advance(Duration.ofSeconds(3_600));
        Decision late = on.take(order(sale, "eve", 1, "e"));
        assertEquals(DenialReason.CLOSED, late.binding().orElseThrow().reason());
        assertTrue(late.retryAfter().isEmpty());
        assertTrue(on.takes(order(sale, "ann", 2, "a")), "an owner asks again");
    }

    @OnEachBackend
    void whoAsksAgainCanConfirmAndReturnOnce(OpenBackend on) {
        Policy sale = sale(2, 1, Duration.ofMinutes(15));
        on.time.setMicros(OPENS);
        Decision first = on.take(order(sale, "ann", 1, "a"));
        on.time.advance(Duration.ofMinutes(1));
        Decision again = on.take(order(sale, "ann", 1, "a"));
        assertTrue(on.limiter.confirm(again));
        assertTrue(on.limiter.confirm(first), "it is confirmed already");
        assertFalse(on.limiter.refund(first));
        Decision bob = on.take(order(sale, "bob", 1, "b"));
        Decision bobAgain = on.take(order(sale, "bob", 1, "b"));
        assertTrue(on.limiter.refund(bob));
        assertFalse(on.limiter.refund(bobAgain), "returned once");
        assertFalse(on.limiter.confirm(bobAgain), "it was returned");
        Decision eve = on.take(order(sale, "eve", 1, "b"));
        // It came a microsecond after that of the other one.
        on.time.advance(Duration.ofMinutes(15).plusNanos(1_000));
        assertFalse(on.limiter.confirm(eve), "the hold has run out");
        assertFalse(on.limiter.confirm(on.look(order(sale, "eve", 1, "x"))), "a look buys nothing");
        assertEquals(1, on.left(sale, KEY));
    }

    /** Each of many members asks several times at once. */
    @OnEachBackend
    void exactlyTheStockIsSoldAndEachRetryIsToldTheSame(OpenBackend on) throws Exception {
        Policy sale = sale(25, 1, Duration.ZERO);
        on.time.setMicros(OPENS);
        List<Callable<Boolean>> calls = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            Charge order = order(sale, "m" + i / 4, 1, "order " + i / 4);
            calls.add(() -> on.takes(order));
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
        assertEquals(0, on.left(sale, KEY));
    }

    /** Else a client that buys one, and asks for two with the same id, would get the answer that it has two. */
    @OnEachBackend
    void anIdWithAnotherQuantityIsNoRetry(OpenBackend on) {
        Policy sale = sale(10, 3, Duration.ZERO);
        on.time.setMicros(OPENS);
        assertTrue(on.takes(order(sale, "ann", 1, "a")));
        assertEquals(DenialReason.QUANTITY, reason(on, order(sale, "ann", 2, "a")));
        assertEquals(DenialReason.QUOTA, reason(on, order(sale, "ann", 1, "a")), "a retry");
        assertEquals(DenialReason.QUOTA, reason(on, order(sale, "bob", 2, "a")), "the id of another member");
        assertEquals(7, on.left(sale, KEY));
    }

    /** A charge of the list is a retry: it wants nothing, and what denies the list does not return what was bought before. */
    @OnEachBackend
    void aRetryAmongOthersKeepsItsPurchase(OpenBackend on) {
        Policy sale = sale(3, 1, Duration.ofMinutes(15));
        on.time.setMicros(OPENS);
        Charge ann = order(sale, "ann", 1, "a");
        Decision first = on.take(ann);
        Decision both = on.take(ann, order(sale, "bob", 1, "b"));
        assertTrue(both.allowed(), "only one of two wants something");
        assertEquals(1, on.left(sale, KEY));
        Decision late =
                on.take(ann, order(sale, "cid", 1, "c"), order(sale, "dan", 1, "d"), order(sale, "bob", 1, "b"));
        assertFalse(late.allowed(), "one is left for two");
        assertEquals(1, on.left(sale, KEY), "what the list took is given back, and nothing else");
        assertTrue(on.takes(order(sale, "eve", 1, "e")));
        assertEquals(DenialReason.SOLD_OUT, reason(on, order(sale, "cid", 1, "c")));
        assertTrue(on.limiter.confirm(first), "it is still there");
        assertTrue(on.takes(ann), "sold out, and asked again");
    }

    /** Limits hold together: another one may deny a retry for a while, with its own reason, and changes no purchase. */
    @OnEachBackend
    void aRetryThatAnotherLimitDeniesIsAnsweredTheSameLater(OpenBackend on) {
        Limit stock = sale(2, 1, Duration.ZERO).limits().get(0);
        Policy sale = Policy.of("sale", Limit.slidingZset(1, Duration.ofMinutes(10)), stock.withName("stock"));
        on.time.setMicros(OPENS);
        Charge ann = order(sale, "ann", 1, "a");
        assertTrue(on.takes(ann));
        assertTrue(on.takes(ann), "both limits know the id");
        on.time.advance(Duration.ofMinutes(10));
        assertTrue(on.takes(order(sale, "bob", 1, "b")), "sold out");
        for (int i = 0; i < 2; i++) {
            Decision denied = on.take(ann);
            assertEquals(DenialReason.QUOTA, denied.binding().orElseThrow().reason());
            assertEquals(Duration.ofMinutes(10), denied.retryAfter().orElseThrow());
            assertTrue(denied.outcomes().get(1).allowed(), "by the stock it is allowed");
            assertEquals(0, denied.outcomes().get(1).remaining());
        }
        on.time.advance(Duration.ofMinutes(10));
        assertTrue(on.takes(ann));
        assertEquals(
                DenialReason.SOLD_OUT,
                on.take(order(sale, "eve", 1, "e")).outcomes().get(1).reason());
    }

    /** A stock counts until a day after it closes by the current clock, even if a call came at a later time. */
    @OnEachBackend
    void aStockThatIsOverCountsAgainWhenTheClockStepsBack(OpenBackend on) {
        Policy sale = sale(1, 1, Duration.ZERO);
        on.time.setMicros(OPENS);
        assertTrue(on.takes(order(sale, "ann", 1, "a")));
        on.time.advance(Duration.ofHours(25));
        assertEquals(DenialReason.CLOSED, reason(on, order(sale, "ann", 1, "a")), "it is forgotten");
        on.time.setMicros(micros(START.plusSeconds(90)));
        assertEquals(DenialReason.SOLD_OUT, reason(on, order(sale, "bob", 1, "b")));
        assertEquals(DenialReason.QUOTA, reason(on, order(sale, "ann", 1, "a")), "and remembered");
    }

    /** Long after a hold has run out, a call settles it; what its member has bought since with the same id stays known by it. */
    @OnEachBackend
    void anIdThatCameAgainStaysThatOfTheLaterPurchase(OpenBackend on) {
        Policy sale = sale(200, 2, Duration.ofMinutes(15));
        on.time.setMicros(OPENS);
        assertTrue(on.limiter.confirm(on.take(order(sale, "zoe", 1, "z"))), "one is paid");
        for (int i = 0; i < 99; i++) {
            assertTrue(on.takes(order(sale, "m" + i, 1, "a")));
        }
        on.time.advance(Duration.ofMinutes(16));
        assertEquals(199, on.left(sale, KEY), "all others have run out");
        Decision again = on.take(order(sale, "m98", 2, "a"));
        assertTrue(again.allowed(), "the id of a hold that has run out is free");
        for (int i = 0; i < 9; i++) {
            assertEquals(DenialReason.QUANTITY, reason(on, order(sale, "eve", 3, "e" + i)), "a call that settles");
        }
        assertTrue(on.takes(order(sale, "m98", 2, "a")), "asked again");
        assertEquals(197, on.left(sale, KEY), "bought once");
        assertEquals(DenialReason.ALREADY_HAD, reason(on, order(sale, "m98", 1, "b")));
        assertTrue(on.limiter.confirm(again));
    }

    /** What has run out is counted at once, also where nobody buys. */
    @OnEachBackend
    void aSaleWhoseHoldsHaveAllRunOutIsNotSoldOutForWhoLooks(OpenBackend on) {
        Policy sale = sale(300, 100, Duration.ofMinutes(15));
        on.time.setMicros(OPENS);
        PermitRequest look = PermitRequest.of(sale, KEY, 0).withLook();
        Decision first = on.take(order(sale, "ann", 100, "a"));
        for (String member : List.of("bob", "eve")) {
            assertTrue(on.takes(order(sale, member, 100, "a")));
        }
        assertEquals(0, on.limiter.tryAcquire(look).remaining());
        assertEquals(DenialReason.SOLD_OUT, reason(on, order(sale, "zoe", 1, "z")));
        on.time.advance(Duration.ofMinutes(15).plusNanos(2_000));
        for (int i = 0; i < 2; i++) {
            assertEquals(300, on.limiter.tryAcquire(look).remaining(), "a look writes nothing");
        }
        assertTrue(on.look(order(sale, "zoe", 1, "z")).allowed());
        assertFalse(on.limiter.confirm(first));
        assertTrue(on.takes(order(sale, "ann", 100, "b")), "what a member had counts no more either");
        assertEquals(200, on.limiter.tryAcquire(look).remaining());
    }

    /** Asked by looks, so that nothing is forgotten meanwhile. */
    @OnEachBackend
    void whatAMemberHadIsCountedAtEachEndOfAHold(OpenBackend on) {
        Policy sale = sale(100, 9, Duration.ofMinutes(15));
        on.time.setMicros(OPENS);
        long start = on.time.nowMicros();
        long minute = 60_000_000;
        List<Decision> bought = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            on.time.setMicros(start + i * minute);
            Decision one = on.take(order(sale, "ann", 1, "a" + i));
            assertTrue(one.allowed());
            bought.add(one);
            if (i == 3) {
                assertTrue(on.limiter.refund(bought.get(2)));
            }
        }
        for (int i = 0; i < 10; i++) {
            on.time.setMicros(start + (15 + i) * minute);
            int has = i < 2 ? 8 - i : 9 - i;
            assertTrue(on.look(order(sale, "ann", 9 - has, "b")).allowed());
            LimitOutcome more =
                    on.look(order(sale, "ann", 10 - has, "b")).binding().orElseThrow();
            assertEquals(has == 0 ? DenialReason.QUANTITY : DenialReason.ALREADY_HAD, more.reason());
        }
    }

    /** A call forgets a portion of a large purchase. If the clock steps back, the rest is on hold again, and belongs to nobody. */
    @OnEachBackend
    void aLargePurchaseIsForgottenInPortions(OpenBackend on) {
        Policy sale = sale(200, 150, Duration.ofMinutes(15));
        on.time.setMicros(OPENS);
        PermitRequest look = PermitRequest.of(sale, KEY, 0).withLook();
        Decision ann = on.take(order(sale, "ann", 120, "a"));
        on.time.advance(Duration.ofMinutes(1));
        assertTrue(on.limiter.confirm(on.take(order(sale, "bob", 10, "b"))));
        on.time.advance(Duration.ofMinutes(14));
        assertEquals(DenialReason.QUANTITY, reason(on, order(sale, "eve", 151, "e")), "a call that forgets 50");
        assertEquals(190, on.limiter.tryAcquire(look).remaining());
        on.time.setMicros(micros(START.plusSeconds(120)));
        assertEquals(120, on.limiter.tryAcquire(look).remaining(), "70 are on hold again");
        assertFalse(on.limiter.confirm(ann), "they are no purchase");
        assertEquals(DenialReason.ALREADY_HAD, reason(on, order(sale, "ann", 81, "a")));
        assertEquals(DenialReason.QUOTA, reason(on, order(sale, "ann", 80, "a")), "a new one");
        assertEquals(40, on.limiter.tryAcquire(look).remaining());
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
