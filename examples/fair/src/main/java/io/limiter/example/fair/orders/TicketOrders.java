package io.limiter.example.fair.orders;

import io.limiter.example.fair.sale.Orders;
import java.time.Duration;
import java.util.Map;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RQueue;
import org.redisson.api.RSet;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * The paid tickets on their way to be printed, in two queues so that both can be compared: a plain list, and a reliable queue. Thread-safe.
 */
public final class TicketOrders implements Orders {
    /** Longer than the work on an order takes, and short enough to be watched. */
    static final Duration ABANDONED = Duration.ofSeconds(3);

    static final int MOST_DELIVERIES = 3;
    private static final String LIST = "fair:{orders}:list";
    private static final String STREAM = "fair:{orders}:stream";

    private final RedissonClient redisson;
    private final RSet<String> ids;
    private final RAtomicLong placed;
    private final RAtomicLong printedFromList;
    private final RQueue<String> list;
    private final ReliableQueue reliable;

    public TicketOrders(RedissonClient redisson, Duration abandoned) {
        this.redisson = redisson;
        this.ids = redisson.getSet("fair:{orders}:ids", StringCodec.INSTANCE);
        this.placed = redisson.getAtomicLong("fair:{orders}:placed");
        this.printedFromList = redisson.getAtomicLong(LIST + ":effect");
        this.list = redisson.getQueue(LIST, StringCodec.INSTANCE);
        this.reliable = new ReliableQueue(redisson, STREAM, abandoned, MOST_DELIVERIES);
    }

    /** Puts an order into both queues. Of an id that comes twice the reliable queue prints one, the list two. */
    @Override
    public void paid(String id, String visitor, int quantity) {
        put(id, visitor, Integer.toString(quantity), quantity);
    }

    /** An order that no worker can read. */
    public void poison(String id) {
        put(id, "nobody", "a lot", 1);
    }

    private void put(String id, String visitor, String quantity, int tickets) {
        reliable.add(Map.of("id", id, "visitor", visitor, "quantity", quantity));
        list.add(quantity);
        // For the page, which compares: without it the queues work as well.
        if (ids.add(id)) {
            placed.addAndGet(tickets);
        }
    }

    /** How many tickets were ordered, each order counted once. */
    public long placed() {
        return placed.get();
    }

    /** How many of them were printed from the list. */
    public RAtomicLong printedFromList() {
        return printedFromList;
    }

    public RQueue<String> list() {
        return list;
    }

    public ReliableQueue reliable() {
        return reliable;
    }

    /** Deletes all orders. */
    void clear() {
        redisson.getKeys().deleteByPattern("fair:{orders}:*");
        reliable.createGroup();
    }
}
