package io.limiter.example.fair.orders;

import io.limiter.example.fair.orders.ReliableQueue.Message;
import io.limiter.example.fair.worker.WorkerProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.redisson.client.RedisException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Prints tickets: takes one order of each queue, works on both, and writes both effects. When it is killed at work, only one queue knows. */
public final class OrderWorker {
    private static final Logger LOG = LoggerFactory.getLogger(OrderWorker.class);
    private static final Duration PAUSE = Duration.ofMillis(200);

    private final TicketOrders orders;
    private final String name;
    private final long workNanos;

    OrderWorker(TicketOrders orders, String name, Duration work) {
        this.orders = orders;
        this.name = name;
        this.workNanos = work.toNanos();
    }

    /**
     * Arguments: the address of Redis, its name among the workers, then in milliseconds after how long an order counts as abandoned, and the
     * work on an order.
     */
    public static void main(String[] args) {
        TicketOrders orders = new TicketOrders(
                WorkerProcess.connect(args[0], Duration.ofSeconds(30)), Duration.ofMillis(Long.parseLong(args[2])));
        OrderWorker worker = new OrderWorker(orders, args[1], Duration.ofMillis(Long.parseLong(args[3])));
        while (true) {
            try {
                if (!worker.work()) {
                    LockSupport.parkNanos(PAUSE.toNanos());
                }
            } catch (RedisException e) {
                LOG.warn("Redis did not answer; the orders of the stream stay", e);
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        }
    }

    /** Works on one order of each queue; returns false if there was none. */
    boolean work() {
        String plain = orders.list().poll();
        List<Message> messages = orders.reliable().take(name, 1);
        if (plain == null && messages.isEmpty()) {
            return false;
        }
        LockSupport.parkNanos(workNanos);
        print(plain);
        messages.forEach(this::print);
        return true;
    }

    private void print(@Nullable String tickets) {
        try {
            orders.printedFromList().addAndGet(tickets == null ? 0 : Integer.parseInt(tickets));
        } catch (NumberFormatException poisoned) {
            LOG.warn("an order of the list failed and is lost: {}", poisoned.toString());
        }
    }

    private void print(Message order) {
        try {
            orders.reliable()
                    .finish(
                            order,
                            order.body().getOrDefault("id", ""),
                            Integer.parseInt(order.body().get("quantity")));
        } catch (NumberFormatException poisoned) {
            // Not acknowledged: it is delivered again, and parked after the maximum number of deliveries.
            LOG.warn("order {} failed at delivery {}: {}", order.id(), order.deliveries(), poisoned.toString());
        }
    }
}
