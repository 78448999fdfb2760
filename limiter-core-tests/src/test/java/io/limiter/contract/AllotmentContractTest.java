package io.limiter.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.Limit;
import io.limiter.LimitOutcome;
import io.limiter.LimitOutcome.DenialReason;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.Policy;
import io.limiter.kit.AtOnce;
import io.limiter.kit.OnEachBackend;
import io.limiter.kit.OpenBackend;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

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

    @OnEachBackend
    void nobodyWaitsForAStock(OpenBackend on) {
        PermitRequest order = PermitRequest.of(List.of(order(sale(1, 1, Duration.ZERO), "ann", 1, "a")));
        assertThrows(
                IllegalArgumentException.class, () -> on.limiter.acquire(order.withMaxWait(Duration.ofSeconds(1))));
    }
}
