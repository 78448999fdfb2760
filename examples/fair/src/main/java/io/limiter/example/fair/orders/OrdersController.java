package io.limiter.example.fair.orders;

import io.limiter.example.fair.RedisAddress;
import io.limiter.example.fair.worker.WorkerProcess;
import io.limiter.example.fair.worker.Workers;
import java.util.List;
import java.util.UUID;
import org.redisson.api.RedissonClient;
import org.redisson.api.stream.PendingEntry;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Both queues side by side, with workers that the visitor kills. */
@RestController
@RequestMapping("/api/orders")
class OrdersController implements DisposableBean {
    private static final String WORK_MILLIS = "500";
    private static final int PLACED = 10;
    private static final int SHOWN = 20;

    /** Tickets in one queue. {@code unknown}: ordered, but the queue does not know them: with a list, in work or lost. */
    record Queue(String queue, long printed, long waiting, long inWork, long parked, long unknown) {}

    /** An order that a worker has, and how often it was delivered. */
    record Pending(String order, String worker, long deliveries, long idleMillis) {}

    record View(long placed, List<Queue> queues, List<Pending> pending, List<String> parked, List<Long> workers) {}

    record Said(String text) {}

    private final TicketOrders orders;
    private final Workers workers;

    OrdersController(TicketOrders orders, RedisAddress redis) {
        this.orders = orders;
        String abandoned = Long.toString(TicketOrders.ABANDONED.toMillis());
        this.workers = new Workers(
                2,
                place -> WorkerProcess.start(
                        OrderWorker.class, redis.address(), "worker-" + place, abandoned, WORK_MILLIS));
    }

    /** Where the sale sends what is paid. */
    @Configuration
    static class Beans {
        @Bean
        TicketOrders orders(RedissonClient redisson) {
            return new TicketOrders(redisson, TicketOrders.ABANDONED);
        }
    }

    @GetMapping
    View view() {
        ReliableQueue reliable = orders.reliable();
        long placed = orders.placed();
        long printed = orders.printedFromList().get();
        int waiting = orders.list().size();
        List<PendingEntry> pending = reliable.pending(SHOWN);
        List<String> parked = reliable.parked();
        long left = reliable.size();
        return new View(
                placed,
                List.of(
                        new Queue("list", printed, waiting, 0, 0, placed - printed - waiting),
                        new Queue(
                                "stream",
                                reliable.effects(),
                                left - pending.size(),
                                pending.size(),
                                parked.size(),
                                placed - reliable.effects() - left - parked.size())),
                pending.stream()
                        .map(one -> new Pending(
                                one.getId().toString(),
                                one.getConsumerName(),
                                one.getDeliveryCount(),
                                one.getIdleTime()))
                        .toList(),
                parked,
                workers.pids());
    }

    @PostMapping("/place")
    Said place() {
        for (int i = 0; i < PLACED; i++) {
            orders.paid("order-" + name(), "visitor", 1);
        }
        return new Said(PLACED + " orders went into both queues.");
    }

    @PostMapping("/poison")
    Said poison() {
        orders.poison("order-" + name());
        return new Said("An order for \"a lot\" of tickets went into both queues.");
    }

    private static String name() {
        return UUID.randomUUID().toString().substring(0, 8);
    }

    @PostMapping("/worker")
    Said worker() {
        return new Said("Process " + workers.start() + " starts.");
    }

    @PostMapping("/kill")
    Said kill() {
        return new Said(
                workers.kill() + " What it had from the list is lost; what it had from the stream is delivered again.");
    }

    @PostMapping("/clear")
    Said clear() {
        orders.clear();
        return new Said("Both queues are empty.");
    }

    @Override
    public void destroy() {
        workers.close();
    }
}
