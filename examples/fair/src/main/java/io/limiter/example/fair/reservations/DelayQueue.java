package io.limiter.example.fair.reservations;

import java.time.Duration;
import java.util.List;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * A queue whose messages can be read after a delay: a sorted set by time in front of a stream. What is due moves to the stream in one
 * script, so a crash loses nothing; any consumer group of the stream does the rest. Redisson's RDelayedQueue is deprecated, and its
 * RReliableQueue is not in the open edition. Thread-safe.
 */
public final class DelayQueue {
    private static final String NOW = """
            local time = redis.call('TIME')
            local now = time[1] * 1000 + math.floor(time[2] / 1000)
            """;

    /** KEYS delayed, bodies. ARGV delay in ms, id, body. An id that waits already keeps its time and body. */
    private static final String ADD = NOW + """
            if redis.call('HSETNX', KEYS[2], ARGV[2], ARGV[3]) == 0 then return 0 end
            redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[1]), ARGV[2])
            return 1
            """;

    /** KEYS delayed, bodies, stream. ARGV most. */
    private static final String MOVE = NOW + """
            local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])
            for _, id in ipairs(due) do
              redis.call('XADD', KEYS[3], '*', 'id', id, 'body', redis.call('HGET', KEYS[2], id) or '')
              redis.call('HDEL', KEYS[2], id)
              redis.call('ZREM', KEYS[1], id)
            end
            return #due
            """;

    private final RScript script;
    private final String delayed;
    private final String bodies;
    private final String stream;

    /** @param stream where due messages go, with the fields {@code id} and {@code body}; its name has a hash tag */
    public DelayQueue(RedissonClient redisson, String stream) {
        this.script = redisson.getScript(StringCodec.INSTANCE);
        this.delayed = stream + ":delayed";
        this.bodies = stream + ":bodies";
        this.stream = stream;
    }

    /** Adds a message; returns false if one of this id waits already, and changes nothing then. */
    public boolean add(String id, String body, Duration delay) {
        List<Object> keys = List.of(delayed, bodies);
        return script.<Long>eval(Mode.READ_WRITE, ADD, ReturnType.LONG, keys, delay.toMillis(), id, body) == 1;
    }

    /** Moves what is due to the stream, up to a maximum; returns how many. Every instance may call it as often as it likes. */
    public long move(int most) {
        List<Object> keys = List.of(delayed, bodies, stream);
        return script.<Long>eval(Mode.READ_WRITE, MOVE, ReturnType.LONG, keys, most);
    }
}
