package io.limiter.example.fair.reservations;

import io.limiter.example.fair.orders.ReliableQueue;
import io.limiter.example.fair.orders.ReliableQueue.Message;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.redisson.api.RMap;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Reserved seats, which must be paid within a time. The delay queue is the alarm clock: its message comes when the time is over, and the
 * state decides whether that matters. Any instance may work on the messages, and any may be killed at it. Thread-safe.
 */
public final class Reservations {
    private static final String NAME = "fair:{tasks}:reservations";
    private static final int MOST = 100;
    private static final int MOST_DELIVERIES = 5;

    private final RMap<String, String> states;
    private final DelayQueue alarms;
    private final ReliableQueue due;
    private final Duration pay;

    /**
     * @param pay within which time to pay
     * @param abandoned after how long a message that an instance has not settled goes to another one
     */
    public Reservations(RedissonClient redisson, Duration pay, Duration abandoned) {
        this.states = redisson.getMap(NAME, StringCodec.INSTANCE);
        this.alarms = new DelayQueue(redisson, NAME + ":due");
        this.due = new ReliableQueue(redisson, NAME + ":due", abandoned, MOST_DELIVERIES);
        this.pay = pay;
    }

    /** Reserves seats; returns false if the id has been used. */
    public boolean reserve(String id, int seats) {
        // First the alarm: a reservation without one would never expire. An alarm without a reservation does no harm.
        alarms.add(id, Integer.toString(seats), pay);
        return states.fastPutIfAbsent(id, "reserved");
    }

    /** Pays; returns false if there is no such reservation, or if it has expired. */
    public boolean pay(String id) {
        return states.replace(id, "reserved", "paid") || "paid".equals(states.get(id));
    }

    /** Expires what is due and not paid, and takes each seat back once; returns how many reservations expired. */
    public int expire(String instance) {
        alarms.move(MOST);
        int expired = 0;
        for (Message message : due.take(instance, MOST)) {
            String id = message.body().getOrDefault("id", "");
            // Reserved later than the alarm came: too late, and nothing comes back.
            states.fastPutIfAbsent(id, "void");
            states.replace(id, "reserved", "expired");
            // Not only if it was this call that has expired it: the one that did may have died before the next line.
            boolean unpaid = "expired".equals(states.get(id));
            int seats = unpaid ? Integer.parseInt(message.body().getOrDefault("body", "0")) : 0;
            if (due.finish(message, id, seats) && unpaid) {
                expired++;
            }
        }
        return expired;
    }

    /** Forgets all reservations, and deletes other keys with the same hash tag, in one step. */
    public void clear(String... others) {
        List<String> keys = new ArrayList<>(List.of(NAME, NAME + ":due:delayed", NAME + ":due:bodies"));
        keys.addAll(List.of(others));
        due.clear(keys.toArray(String[]::new));
    }

    /** How many seats came back. */
    public long returned() {
        return due.effects();
    }

    /** All reservations, by id: reserved, paid or expired. */
    public Map<String, String> states() {
        return states.readAllMap();
    }
}
