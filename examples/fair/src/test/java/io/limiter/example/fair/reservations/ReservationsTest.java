package io.limiter.example.fair.reservations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.limiter.example.fair.worker.TestRedis;
import io.limiter.kit.Await;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

class ReservationsTest {
    private static final Duration SOON = Duration.ofMillis(100);
    private static final Duration HOUR = Duration.ofHours(1);

    private final RedissonClient redisson = TestRedis.without("tasks");

    @AfterEach
    void end() {
        redisson.shutdown();
    }

    @Test
    void whatIsNotPaidExpiresAndItsSeatsComeBackOnce() {
        Reservations reservations = new Reservations(redisson, SOON, HOUR);
        assertTrue(reservations.reserve("one", 2));
        assertFalse(reservations.reserve("one", 2), "a double click");
        assertTrue(reservations.reserve("two", 3));
        assertTrue(reservations.pay("two"));

        Await.until(TestRedis.LONG, "it expires", () -> reservations.expire("here") == 1);

        assertFalse(reservations.pay("one"));
        assertTrue(reservations.pay("two"), "a second payment changes nothing");
        Await.until(TestRedis.LONG, "both alarms are over", () -> {
            reservations.expire("here");
            return redisson.getStream("fair:{tasks}:reservations:due").size() == 0
                    && redisson.getScoredSortedSet("fair:{tasks}:reservations:due:delayed")
                            .isEmpty();
        });
        assertEquals(Map.of("one", "expired", "two", "paid"), reservations.states());
        assertEquals(2, reservations.returned());
    }

    @Test
    void anInstanceThatDiesAtExpiryIsReplacedByAnother() {
        Reservations dies = new Reservations(redisson, SOON, HOUR);
        dies.reserve("one", 1);
        DelayQueue alarms = new DelayQueue(redisson, "fair:{tasks}:reservations:due");
        Await.until(TestRedis.LONG, "the alarm", () -> alarms.move(10) == 1);
        // It has read the message and changed the state, and is gone before it gives the seat back.
        assertEquals(
                1,
                redisson.getStream("fair:{tasks}:reservations:due", StringCodec.INSTANCE)
                        .readGroup("workers", "dead", org.redisson.api.stream.StreamReadGroupArgs.neverDelivered())
                        .size());
        redisson.getMap("fair:{tasks}:reservations", StringCodec.INSTANCE).put("one", "expired");

        Reservations other = new Reservations(redisson, SOON, Duration.ofMillis(200));
        Await.until(TestRedis.LONG, "another takes over", () -> other.expire("other") == 1);

        assertEquals(1, other.returned());
    }

    @Test
    void manyInstancesMoveEachMessageOnce() {
        DelayQueue queue = new DelayQueue(redisson, "fair:{tasks}:reservations:due");
        assertTrue(queue.add("early", "x", HOUR));
        int messages = 500;
        for (int i = 0; i < messages; i++) {
            assertTrue(queue.add("m" + i, "b" + i, Duration.ZERO));
        }
        assertFalse(queue.add("early", "y", Duration.ZERO), "waits already");

        ExecutorService instances = Executors.newFixedThreadPool(4);
        try {
            List<CompletableFuture<Long>> moved = IntStream.range(0, 4)
                    .mapToObj(i -> CompletableFuture.supplyAsync(
                            () -> {
                                long all = 0;
                                for (long now = queue.move(7); now > 0; now = queue.move(7)) {
                                    all += now;
                                }
                                return all;
                            },
                            instances))
                    .toList();
            assertEquals(
                    messages, moved.stream().mapToLong(CompletableFuture::join).sum());
        } finally {
            instances.shutdown();
        }
        assertEquals(
                messages, redisson.getStream("fair:{tasks}:reservations:due").size());
    }

    @Test
    void aReservationAfterItsAlarmIsRefused() {
        DelayQueue alarms = new DelayQueue(redisson, "fair:{tasks}:reservations:due");
        alarms.add("late", "1", Duration.ZERO);
        Reservations reservations = new Reservations(redisson, SOON, HOUR);
        assertEquals(0, reservations.expire("here"));

        assertFalse(reservations.reserve("late", 1));

        assertEquals(0, reservations.returned());
    }
}
