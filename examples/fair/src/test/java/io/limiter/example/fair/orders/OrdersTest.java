package io.limiter.example.fair.orders;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.Crash;
import io.limiter.example.fair.orders.ReliableQueue.Message;
import io.limiter.example.fair.worker.TestRedis;
import io.limiter.example.fair.worker.WorkerProcess;
import io.limiter.kit.Await;
import io.limiter.kit.RedisServers;
import io.limiter.kit.Repeats;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.redisson.api.stream.StreamAddArgs;
import org.redisson.client.codec.StringCodec;

@Tag("long")
class OrdersTest {
    private static final Duration BRIEF = Duration.ofMillis(200);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final int ORDERS = Repeats.of(40, 400);

    private final RedissonClient redisson = TestRedis.without("orders");

    @AfterEach
    void end() {
        redisson.shutdown();
    }

    private static List<Message> await(ReliableQueue queue, String consumer) {
        List<Message> taken = new ArrayList<>();
        Await.until(TestRedis.LONG, "a message for " + consumer, () -> taken.addAll(queue.take(consumer, 1)));
        return taken;
    }

    private static WorkerProcess worker(String name) {
        return WorkerProcess.start(OrderWorker.class, RedisServers.single(), name, "1000", "40");
    }

    /** A worker has taken an order of each queue, and has printed neither. */
    private static boolean isAtWork(TicketOrders orders) {
        return orders.reliable().pending(10).size() == 1
                && orders.list().size() == orders.reliable().size() - 1
                && orders.printedFromList().get() == orders.reliable().effects();
    }

    /** The same kill, at the same moment, of a worker that takes from both queues. */
    @Test
    void aKilledWorkerLosesAnOrderOfTheListAndNoneOfTheStream() {
        TicketOrders orders = new TicketOrders(redisson, HOUR);
        for (int i = 0; i < ORDERS; i++) {
            orders.paid("order-" + i, "visitor", 1 + i % 3);
        }

        // Frozen while it works on an order of each queue, and killed there.
        WorkerProcess killed = worker("killed");
        Await.until(TestRedis.LONG, "it prints", () -> orders.reliable().effects() > 0);
        Await.until(TestRedis.LONG, "it is at work", () -> {
            killed.freeze();
            // Twice: a command that it sent before it was frozen has been answered the second time.
            boolean atWork = IntStream.range(0, 2).allMatch(time -> isAtWork(orders));
            if (!atWork) {
                killed.thaw();
            }
            return atWork;
        });
        killed.kill();

        WorkerProcess other = worker("other");
        try {
            Await.until(
                    TestRedis.LONG,
                    "both queues are empty",
                    () -> orders.list().isEmpty() && orders.reliable().size() == 0);
        } finally {
            other.kill();
        }

        assertEquals(orders.placed(), orders.reliable().effects(), "nothing lost, nothing twice");
        assertEquals(List.of(), orders.reliable().parked());
        assertTrue(
                orders.printedFromList().get() < orders.placed(),
                orders.printedFromList().get() + " of " + orders.placed());
    }

    @Test
    void aPoisonedOrderIsParkedAndTheOthersArePrinted() {
        TicketOrders orders = new TicketOrders(redisson, BRIEF);
        orders.poison("bad");
        orders.paid("good", "visitor", 2);
        OrderWorker worker = new OrderWorker(orders, "here", Duration.ZERO);

        Await.until(TestRedis.LONG, "it is parked", () -> {
            worker.work();
            return !orders.reliable().parked().isEmpty();
        });

        assertEquals(1, orders.reliable().parked().size());
        String parked = orders.reliable().parked().get(0);
        assertTrue(parked.contains("id=bad") && parked.contains("after 3 deliveries"), parked);
        assertEquals(2, orders.reliable().effects());
        assertEquals(0, orders.reliable().size());
        assertFalse(worker.work());
    }

    @Test
    void anAbandonedOrderTakesEffectOnceThoughBothWorkersFinishIt() {
        ReliableQueue slow = new TicketOrders(redisson, BRIEF).reliable();
        TicketOrders orders = new TicketOrders(redisson, BRIEF);
        orders.paid("one", "visitor", 4);

        Message first = await(slow, "slow").get(0);
        Message second = await(orders.reliable(), "other").get(0);
        assertEquals(first.id(), second.id());
        assertEquals(1, first.deliveries());
        assertEquals(2, second.deliveries());

        assertTrue(slow.finish(first, "one", 4));
        assertFalse(orders.reliable().finish(second, "one", 4));
        assertEquals(4, orders.reliable().effects());
    }

    @Test
    void anOrderThatTheSaleSendsTwiceIsPrintedOnce() {
        TicketOrders orders = new TicketOrders(redisson, HOUR);
        orders.paid("one", "visitor", 1);
        orders.paid("one", "visitor", 1);
        OrderWorker worker = new OrderWorker(orders, "here", Duration.ZERO);
        while (worker.work()) {
            // Until both queues are empty.
        }

        assertEquals(1, orders.placed());
        assertEquals(1, orders.reliable().effects());
        assertEquals(2, orders.printedFromList().get(), "the list has no memory");
    }

    @Test
    void ordersThatWereThereBeforeTheFirstWorkerAreRead() {
        redisson.<String, String>getStream("fair:{orders}:stream", StringCodec.INSTANCE)
                .add(StreamAddArgs.entries(Map.of("id", "early", "visitor", "visitor", "quantity", "1")));

        ReliableQueue one = new TicketOrders(redisson, HOUR).reliable();
        ReliableQueue other = new TicketOrders(redisson, HOUR).reliable();

        assertEquals(1, one.take("one", 5).size());
        assertEquals(0, other.take("other", 5).size(), "each message to one worker");
    }

    @Test
    void anInstanceThatDiesAtAnOrderOrAClearLeavesAllOfItOrNothing() {
        TicketOrders running = new TicketOrders(redisson, HOUR);
        Crash.afterEachCommand(
                running::clear, dying -> new TicketOrders(dying, HOUR).paid("order", "ada", 2), commands -> {
                    long orders = running.reliable().size();
                    assertEquals(orders, running.list().size(), commands + " commands");
                    assertEquals(2 * orders, running.placed(), commands + " commands");
                });
        Crash.afterEachCommand(
                () -> running.paid("order", "ada", 2), dying -> new TicketOrders(dying, HOUR).clear(), commands -> {
                    // Without the stream's group nobody could take anything until the next start.
                    running.paid("next", "ada", 2);
                    assertTrue(running.reliable().take("ada", 9).size() > 0, commands + " commands");
                });
    }
}
