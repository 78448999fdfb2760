package io.limiter.example.fair.sale;

import io.limiter.BackendException;
import io.limiter.Charge;
import io.limiter.Decision;
import io.limiter.LimitOutcome;
import io.limiter.LimitOutcome.DenialReason;
import io.limiter.PartitionKey;
import io.limiter.PermitRequest;
import io.limiter.RateLimiter;
import io.limiter.application.Limiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import org.redisson.api.RBucket;
import org.redisson.api.RMap;
import org.redisson.api.RSet;
import org.redisson.api.RedissonClient;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * The sale of tickets. The stock is the policy {@code sale}; here is what surrounds it. Thread-safe; instances on one Redis are one sale.
 *
 * <p>An order's id is made of the visitor's name, so a click that comes twice, or again after a lost answer, is the same order.
 */
@Component
class TicketSale {
    static final int MOST_VISITORS = 500;
    private static final Logger LOG = LoggerFactory.getLogger(TicketSale.class);
    private static final PartitionKey ALL = PartitionKey.global();
    private static final String BOUGHT = "bought";
    private static final String FAILED = "failed";

    private final Limiter limiter;
    private final Orders orders;
    private final RedissonClient redis;
    /** Visitors with a paid ticket. */
    private final RSet<String> sold;
    /** Orders whose payment has begun and whose ticket is not yet on its way; with the visitor. */
    private final RMap<String, String> paying;

    TicketSale(Limiter limiter, RedissonClient redis, Orders orders) {
        this.limiter = limiter;
        this.orders = orders;
        this.redis = redis;
        this.sold = redis.getSet("fair:sale:sold");
        this.paying = redis.getMap("fair:sale:paying");
    }

    /** What a visitor sees. {@code mine} is none, held or paid; {@code heldSeconds} is how long it is held for the visitor. */
    record View(long stock, long left, long held, long sold, String mine, long heldSeconds) {}

    /** What came of an attempt: {@code bought}, or why not, such as {@code sold-out}. */
    record Attempt(boolean bought, String reason) {}

    /** What came of a rush: attempts that hold a ticket, and those that were denied, by reason; failed are those without an answer. */
    record Rush(long attempts, long tickets, long soldOut, long alreadyHad, long failed) {}

    /** Holds a ticket for the visitor, once. */
    Attempt buy(String visitor) {
        return noted(visitor, limiter.rateLimiter().tryAcquire(PermitRequest.of(List.of(order(visitor)))));
    }

    /** The visitor pays. Returns false where nothing is held for it, or no longer. */
    boolean pay(String visitor) {
        if (!held(visitor).isExists()) {
            return sold.contains(visitor);
        }
        // Before the confirmation: whatever crashes from here on, finishPayments() goes on with it.
        paying.put(orderId(visitor), visitor);
        return finish(orderId(visitor), visitor);
    }

    private boolean finish(String id, String visitor) {
        RateLimiter rateLimiter = limiter.rateLimiter();
        // Asked again with its id, the purchase answers as it did, on any instance; a confirmation needs that decision.
        Decision again = rateLimiter.tryAcquire(PermitRequest.of(List.of(order(visitor))));
        if (reason(again).equals(FAILED)) {
            throw new BackendException("Redis did not answer; the payment goes on when it does");
        }
        boolean paid = again.allowed() && rateLimiter.confirm(again);
        if (paid) {
            orders.paid(id, visitor, 1);
            sold.add(visitor);
            held(visitor).delete();
        }
        paying.remove(id);
        return paid;
    }

    /** Goes on with payments that an instance has begun and not finished. Doing it twice, or in two instances, changes nothing. */
    @Scheduled(fixedDelayString = "${fair.sale.finish:5s}")
    void finishPayments() {
        for (Map.Entry<String, String> begun : paying.readAllEntrySet()) {
            try {
                finish(begun.getKey(), begun.getValue());
            } catch (RuntimeException later) {
                LOG.warn("the payment of {} is tried again: {}", begun.getKey(), later.toString());
            }
        }
    }

    /** Many visitors, each of whom clicks twice, all at the same time. */
    Rush rush(String name, int visitors) {
        if (visitors < 1 || visitors > MOST_VISITORS) {
            throw new IllegalArgumentException("visitors is " + visitors + "; send 1 to " + MOST_VISITORS);
        }
        List<Charge> clicks = new ArrayList<>();
        for (int click = 0; click < 2; click++) {
            for (int i = 0; i < visitors; i++) {
                // An id of its own for each click: two tabs, say. The stock alone sees that it is one visitor.
                String visitor = name + "-" + i;
                clicks.add(new Charge(limiter.policy("sale"), ALL, 1, visitor + "/" + click, PartitionKey.of(visitor)));
            }
        }
        List<CompletableFuture<Decision>> asked = limiter.rateLimiter().acquireEachAsync(PermitRequest.each(clicks));
        Map<String, Long> seen = asked.stream()
                .map(one -> reason(one.toCompletableFuture().join()))
                .collect(Collectors.groupingBy(reason -> reason, Collectors.counting()));
        return new Rush(
                clicks.size(),
                seen.getOrDefault(BOUGHT, 0L),
                seen.getOrDefault(DenialReason.SOLD_OUT.text(), 0L),
                seen.getOrDefault(DenialReason.ALREADY_HAD.text(), 0L),
                seen.getOrDefault(FAILED, 0L));
    }

    /** The sale as the visitor sees it. */
    View view(String visitor) {
        Charge nothing = new Charge(limiter.policy("sale"), ALL, 0);
        // Without an answer of Redis there are none.
        LimitOutcome stock =
                limiter
                        .rateLimiter()
                        .tryAcquire(PermitRequest.of(List.of(nothing)).withLook())
                        .outcomes()
                        .stream()
                        .findFirst()
                        .orElseThrow(() -> new BackendException("Redis did not answer; the stock is not known"));
        long heldMillis = held(visitor).remainTimeToLive();
        boolean paid = sold.contains(visitor);
        long paidTickets = sold.size();
        long all = stock.limit().permits();
        return new View(
                all,
                stock.remaining(),
                Math.max(0, all - stock.remaining() - paidTickets),
                paidTickets,
                paid ? "paid" : heldMillis > 0 ? "held" : "none",
                paid ? 0 : Math.max(0, (heldMillis + 999) / 1_000));
    }

    /** The next evening: all tickets are there again. */
    void reset() {
        // The stock last: a crash before it leaves tickets that are still sold, and not visitors who seem to have one.
        redis.getKeys().deleteByPattern("fair:sale:*");
        limiter.rateLimiter().reset(limiter.policy("sale"), ALL);
    }

    private Attempt noted(String visitor, Decision decision) {
        if (reason(decision).equals(FAILED)) {
            throw new BackendException("Redis did not answer; nothing is sold");
        }
        if (decision.allowed() && !sold.contains(visitor)) {
            // For the page: the stock itself knows how long the ticket is held.
            Duration hold = limiter.policy("sale").limits().get(0).period();
            held(visitor).setIfAbsent(orderId(visitor), hold);
        }
        return new Attempt(decision.allowed(), reason(decision));
    }

    private static String reason(Decision decision) {
        if (decision.allowed()) {
            return BOUGHT;
        }
        // Without an answer of Redis nothing is sold: a stock has no outcomes then.
        return decision.violated().stream()
                .findFirst()
                .map(LimitOutcome::reason)
                .map(DenialReason::text)
                .orElse(FAILED);
    }

    private Charge order(String visitor) {
        return new Charge(limiter.policy("sale"), ALL, 1, orderId(visitor), PartitionKey.of(visitor));
    }

    private static String orderId(String visitor) {
        if (visitor.isBlank() || visitor.length() > 64) {
            throw new IllegalArgumentException("visitor has " + visitor.length() + " characters; send 1 to 64");
        }
        return "ticket-" + visitor;
    }

    private RBucket<String> held(String visitor) {
        return redis.getBucket("fair:sale:held:" + visitor);
    }
}
