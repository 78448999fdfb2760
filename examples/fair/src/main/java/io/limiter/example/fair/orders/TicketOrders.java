package io.limiter.example.fair.orders;

import io.limiter.example.fair.sale.Orders;
import java.time.Duration;
import java.util.List;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RQueue;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
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

    private static final String IDS = "fair:{orders}:ids";
    private static final String PLACED = "fair:{orders}:placed";

    /** KEYS stream, list, ids, placed. ARGV id, visitor, quantity, tickets. The last two keys are for the page, which compares. */
    private static final String PUT = """
            redis.call('XADD', KEYS[1], '*', 'id', ARGV[1], 'visitor', ARGV[2], 'quantity', ARGV[3])
            redis.call('RPUSH', KEYS[2], ARGV[3])
            if redis.call('SADD', KEYS[3], ARGV[1]) == 1 then redis.call('INCRBY', KEYS[4], ARGV[4]) end
            redis.call('EXPIRE', KEYS[3], 86400)
            """;

    private final RScript script;
    private final RAtomicLong placed;
    private final RAtomicLong printedFromList;
    private final RQueue<String> list;
    private final ReliableQueue reliable;

    public TicketOrders(RedissonClient redisson, Duration abandoned) {
        this.script = redisson.getScript(StringCodec.INSTANCE);
        this.placed = redisson.getAtomicLong(PLACED);
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
        // One step: no crash leaves an order in one queue that the other one does not know.
        script.eval(
                Mode.READ_WRITE,
                PUT,
                ReturnType.VALUE,
                List.of(STREAM, LIST, IDS, PLACED),
                id,
                visitor,
                quantity,
                tickets);
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
        reliable.clear(LIST, LIST + ":effect", IDS, PLACED);
    }
}
