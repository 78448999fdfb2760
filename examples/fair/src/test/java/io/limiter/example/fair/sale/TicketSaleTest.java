package io.limiter.example.fair.sale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.application.Limiter;
import io.limiter.example.fair.FairSite;
import io.limiter.kit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;

class TicketSaleTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    private static FairSite one;
    private static FairSite other;

    private final String visitor = UUID.randomUUID().toString();

    @BeforeAll
    static void start() {
        one = start("15m");
        other = start("15m");
    }

    private static FairSite start(String hold) {
        return FairSite.start(
                "limiter.rules.changes.limits=10000/1s",
                "limiter.policies.sale.limits=100 allotment each 1 hold " + hold
                        + " closes 2099-12-31T23:00:00Z name s",
                "fair.sale.finish=1h");
    }

    @AfterAll
    static void stop() {
        one.close();
        other.close();
    }

    @BeforeEach
    void reset() {
        one.post("/api/sale/reset", "{}");
    }

    private static String who(String visitor) {
        return "{\"visitor\":\"" + visitor + "\"}";
    }

    private String mine(FairSite site) {
        return site.get("/api/sale?visitor=" + visitor).json().at("/mine").asString();
    }

    private static long number(String field) {
        return one.get("/api/sale?visitor=x").json().at("/" + field).asLong();
    }

    @Test
    void twoHundredVisitorsOnTwoInstancesGetAHundredTickets() {
        List<CompletableFuture<Long>> rushes = new ArrayList<>();
        for (FairSite site : List.of(one, other)) {
            rushes.add(CompletableFuture.supplyAsync(() -> site.post("/api/sale/rush", "{\"visitors\":100}")
                    .json()
                    .at("/tickets")
                    .asLong()));
        }
        assertEquals(100, rushes.stream().mapToLong(CompletableFuture::join).sum());
        assertEquals(0, number("left"));
        assertTrue(one.post("/api/sale/buy", who(visitor)).body().contains("sold-out"));
    }

    @Test
    void aDoubleClickIsOneTicketAndItIsPaidOnTheOtherInstance() {
        List<CompletableFuture<String>> clicks = new ArrayList<>();
        for (FairSite site : List.of(one, other, one, other)) {
            clicks.add(CompletableFuture.supplyAsync(
                    () -> site.post("/api/sale/buy", who(visitor)).body()));
        }
        clicks.forEach(click -> assertTrue(click.join().contains("\"bought\":true")));
        assertEquals(99, number("left"));
        assertEquals("held", mine(other));

        assertTrue(other.post("/api/sale/pay", who(visitor)).body().contains("true"));
        assertEquals("paid", mine(one));
        assertTrue(one.post("/api/sale/pay", who(visitor)).body().contains("true"), "paying twice changes nothing");
        assertEquals(1, number("sold"));
        assertEquals(99, number("left"));
    }

    @Test
    void whatNobodyPaysGoesBackAndCannotBePaidLater() {
        try (FairSite quick = start("1s")) {
            quick.post("/api/sale/buy", who(visitor));
            Await.until(
                    LONG,
                    "the ticket is back",
                    () -> quick.get("/api/sale?visitor=" + visitor)
                                    .json()
                                    .at("/left")
                                    .asLong()
                            == 100);
            Await.until(LONG, "nothing is held", () -> mine(quick).equals("none"));
            assertTrue(quick.post("/api/sale/pay", who(visitor)).body().contains("false"));
            assertEquals(0, number("sold"));
        }
    }

    /** The article's order is pushed after the script, so a crash between the two loses it. */
    @Test
    void anOrderIsNotLostWhereTheQueueFailsAfterThePayment() {
        List<String> delivered = new ArrayList<>();
        boolean[] broken = {true};
        TicketSale sale =
                new TicketSale(one.bean(Limiter.class), one.bean(RedissonClient.class), (id, who, quantity) -> {
                    if (broken[0]) {
                        throw new IllegalStateException("the instance ends here");
                    }
                    delivered.add(id);
                });
        sale.buy(visitor);
        assertThrows(IllegalStateException.class, () -> sale.pay(visitor));
        assertEquals(List.of(), delivered);

        broken[0] = false;
        sale.finishPayments();
        sale.finishPayments();

        assertEquals(List.of("ticket-" + visitor), delivered);
        assertEquals("paid", mine(other));
    }

    /** Negative numbers add stock in the article's script, and numeric ids beyond 2^53 are one visitor. */
    @Test
    void longNumbersAreDifferentVisitorsAndNoBodyIsNobody() {
        for (String id : List.of("9007199254740992", "9007199254740993")) {
            assertTrue(one.post("/api/sale/buy", who(id)).body().contains("\"bought\":true"));
        }
        assertEquals(98, number("left"));
        assertEquals(400, one.post("/api/sale/buy", who("")).status());
        assertEquals(400, one.post("/api/sale/rush", "{\"visitors\":-3}").status());
        assertFalse(one.post("/api/sale/pay", who(visitor)).body().contains("true"));
        assertEquals(98, number("left"));
    }
}
