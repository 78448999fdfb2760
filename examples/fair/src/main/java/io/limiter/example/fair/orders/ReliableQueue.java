package io.limiter.example.fair.orders;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RStream;
import org.redisson.api.RedissonClient;
import org.redisson.api.stream.AutoClaimResult;
import org.redisson.api.stream.PendingEntry;
import org.redisson.api.stream.StreamAddArgs;
import org.redisson.api.stream.StreamCreateGroupArgs;
import org.redisson.api.stream.StreamMessageId;
import org.redisson.api.stream.StreamReadGroupArgs;
import org.redisson.client.RedisException;
import org.redisson.client.codec.StringCodec;

/**
 * A queue on a stream with one consumer group. A message stays pending until its worker settles it. One that stays pending too long,
 * because its worker died or failed, goes to another worker; after the maximum number of deliveries it is parked for a
 * person to check. Effects are
 * once: they are written by the script that acknowledges. Keep one object for each worker. Thread-safe.
 */
public final class ReliableQueue {
    private static final String GROUP = "workers";
    private static final int PARKED_SHOWN = 100;

    /** A message, and how often it was delivered, this time included. */
    public record Message(StreamMessageId id, Map<String, String> body, long deliveries) {}

    /** KEYS stream, parked. ARGV group, message id, text. Does nothing if another worker has settled the message. */
    private static final String PARK = """
            if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 1 then
              redis.call('XDEL', KEYS[1], ARGV[2])
              redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
            end
            """;

    /**
     * KEYS stream, done, effect. ARGV group, message id, order id, quantity. The same order in two messages (a producer that asked
     * twice) takes effect once, too.
     */
    private static final String FINISH = """
            if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
            redis.call('XDEL', KEYS[1], ARGV[2])
            if redis.call('HSETNX', KEYS[2], ARGV[3], ARGV[4]) == 0 then return 0 end
            redis.call('EXPIRE', KEYS[2], 86400)
            redis.call('INCRBY', KEYS[3], ARGV[4]) -- the effect; put yours here
            return 1
            """;

    /** KEYS stream, more keys. ARGV group. A stream without its group would be a queue that nobody can read. */
    private static final String CLEAR = """
            for _, key in ipairs(KEYS) do redis.call('DEL', key) end
            redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
            """;

    private final String name;
    private final RStream<String, String> stream;
    private final RScript script;
    private final RedissonClient redisson;
    private final Duration abandoned;
    private final int mostDeliveries;
    private volatile StreamMessageId next = StreamMessageId.MIN;

    /**
     * @param name of the stream, with a hash tag
     * @param abandoned after how long without an acknowledgement a message goes to another worker; longer than the work takes
     * @param mostDeliveries after how many deliveries a message is parked
     */
    public ReliableQueue(RedissonClient redisson, String name, Duration abandoned, int mostDeliveries) {
        this.redisson = redisson;
        this.name = name;
        this.stream = redisson.getStream(name, StringCodec.INSTANCE);
        this.script = redisson.getScript(StringCodec.INSTANCE);
        this.abandoned = abandoned;
        this.mostDeliveries = mostDeliveries;
        createGroup();
    }

    /** Makes the group if there is none, from the first message on: nothing is missed that was added before. */
    private void createGroup() {
        try {
            stream.createGroup(
                    StreamCreateGroupArgs.name(GROUP).id(StreamMessageId.ALL).makeStream());
        } catch (RedisException e) {
            if (!String.valueOf(e.getMessage()).contains("BUSYGROUP")) {
                throw e;
            }
        }
    }

    /** Deletes all messages and effects, and other keys with the same hash tag, in one step. */
    public void clear(String... others) {
        List<Object> keys = new ArrayList<>(List.of(name, name + ":parked", name + ":done", name + ":effect"));
        keys.addAll(List.of(others));
        script.eval(Mode.READ_WRITE, CLEAR, ReturnType.VALUE, keys, GROUP);
    }

    public void add(Map<String, String> body) {
        stream.add(StreamAddArgs.entries(body));
    }

    /** Takes messages: first those that another worker has abandoned, else new ones. Empty if there are none. */
    public List<Message> take(String consumer, int most) {
        List<Message> messages = new ArrayList<>();
        AutoClaimResult<String, String> left =
                stream.autoClaim(GROUP, consumer, abandoned.toMillis(), TimeUnit.MILLISECONDS, next, most);
        next = left.getNextId();
        left.getMessages().forEach((id, body) -> {
            Message message = new Message(id, body, deliveries(id));
            if (message.deliveries() > mostDeliveries) {
                park(message);
            } else {
                messages.add(message);
            }
        });
        if (messages.isEmpty()) {
            stream.readGroup(
                            GROUP,
                            consumer,
                            StreamReadGroupArgs.neverDelivered().count(most))
                    .forEach((id, body) -> messages.add(new Message(id, body, 1)));
        }
        return messages;
    }

    private long deliveries(StreamMessageId id) {
        return stream.listPending(GROUP, id, id, 1).stream()
                .mapToLong(PendingEntry::getDeliveryCount)
                .findFirst()
                .orElse(0);
    }

    private void park(Message message) {
        String text = new TreeMap<>(message.body()) + " after " + mostDeliveries + " deliveries";
        script.eval(
                Mode.READ_WRITE,
                PARK,
                ReturnType.VALUE,
                List.of(name, name + ":parked"),
                GROUP,
                message.id().toString(),
                text);
    }

    /**
     * Settles a message and writes its effect, both or none; returns whether it took effect. False: another worker was first, or the order
     * had its effect by another message.
     */
    public boolean finish(Message message, String order, int quantity) {
        List<Object> keys = List.of(name, name + ":done", name + ":effect");
        return script.<Long>eval(
                        Mode.READ_WRITE,
                        FINISH,
                        ReturnType.LONG,
                        keys,
                        GROUP,
                        message.id().toString(),
                        order,
                        quantity)
                == 1;
    }

    /** How many messages are not settled. */
    public long size() {
        return stream.size();
    }

    /** Messages that workers have, up to a maximum. */
    public List<PendingEntry> pending(int most) {
        return stream.listPending(GROUP, StreamMessageId.MIN, StreamMessageId.MAX, most);
    }

    /** The sum of all effects. */
    public long effects() {
        return redisson.getAtomicLong(name + ":effect").get();
    }

    /** What was given up, the text of each; at most {@value #PARKED_SHOWN}. */
    public List<String> parked() {
        return redisson.<String, String>getMap(name + ":parked", StringCodec.INSTANCE).values(PARKED_SHOWN).stream()
                .limit(PARKED_SHOWN)
                .toList();
    }
}
