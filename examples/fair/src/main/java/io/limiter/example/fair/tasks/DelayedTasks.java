package io.limiter.example.fair.tasks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RFuture;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Tasks that run at a later time: their ids in a sorted set by time, their payloads in a hash. A worker <em>claims</em> due tasks for the
 * length of a lease and then <em>completes</em> them; a lease that ends uncompleted, because the worker died, makes the task claimable
 * again. So each task runs at least once. Its effect is written by the script that completes it, so it takes effect once. Redis' clock
 * decides what is due. Thread-safe; a call that Redisson sends twice does no harm.
 */
public final class DelayedTasks {
    /** The most tasks of one script. It limits how long the script keeps other clients waiting. */
    public static final int MOST = 1_000;

    /** A task and until when its worker has it; that time is also the proof that it is this claim which is completed. */
    public record Task(String id, String payload, String lease) {}

    private static final String NOW = """
            local time = redis.call('TIME')
            local now = time[1] * 1000 + math.floor(time[2] / 1000)
            """;

    /** KEYS due, payloads, leased. ARGV id, payload, delay in ms, id, payload, delay, ... */
    private static final String SCHEDULE = NOW + """
            for i = 1, #ARGV, 3 do
              redis.call('ZADD', KEYS[1], string.format('%.0f', now + ARGV[i + 2]), ARGV[i])
              redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1])
              redis.call('ZREM', KEYS[3], ARGV[i])
            end
            """;

    /** KEYS due, payloads, leased, claims. ARGV most, lease in ms. Leases that have ended come first. */
    private static final String CLAIM = NOW + """
            local lease = string.format('%.0f', now + ARGV[2])
            local claimed = {}
            for _, from in ipairs({KEYS[3], KEYS[1]}) do
              local left = ARGV[1] - #claimed / 3
              for _, id in ipairs(redis.call('ZRANGEBYSCORE', from, '-inf', string.format('%.0f', now), 'LIMIT', 0, left)) do
                redis.call('ZREM', from, id)
                redis.call('ZADD', KEYS[3], lease, id)
                table.insert(claimed, id)
                table.insert(claimed, redis.call('HGET', KEYS[2], id) or '')
                table.insert(claimed, lease)
              end
            end
            if #claimed > 0 then redis.call('INCRBY', KEYS[4], #claimed / 3) end
            return claimed
            """;

    /** KEYS leased, payloads, effects. ARGV id, lease, id, lease, ... A claim that is no longer the last one has no effect. */
    private static final String COMPLETE = """
            local completed = 0
            for i = 1, #ARGV, 2 do
              local lease = redis.call('ZSCORE', KEYS[1], ARGV[i])
              if lease and tonumber(lease) == tonumber(ARGV[i + 1]) then
                redis.call('ZREM', KEYS[1], ARGV[i])
                redis.call('HDEL', KEYS[2], ARGV[i])
                redis.call('HINCRBY', KEYS[3], ARGV[i], 1) -- the effect; put yours here
                completed = completed + 1
              end
            end
            redis.call('EXPIRE', KEYS[3], 86400)
            return completed
            """;

    static final String DUE = "fair:{tasks}:due";
    static final String PAYLOADS = "fair:{tasks}:payloads";
    static final String LEASED = "fair:{tasks}:leased";
    static final String CLAIMS = "fair:{tasks}:claims";
    static final String EFFECTS = "fair:{tasks}:effects";

    private final RedissonClient redisson;
    private final RScript script;
    private final long leaseMillis;

    /**
     * @param lease how long a worker has a claimed task. Longer than a batch takes: after it, another worker runs the task too, and the
     *     first one's result is refused
     */
    public DelayedTasks(RedissonClient redisson, Duration lease) {
        this.redisson = redisson;
        this.script = redisson.getScript(StringCodec.INSTANCE);
        this.leaseMillis = lease.toMillis();
    }

    /**
     * Schedules tasks, by id, with their payloads, in scripts of {@value #MOST} at most. A task whose id is scheduled already gets the new time
     * and payload.
     */
    public void schedule(Map<String, String> payloads, Duration delay) {
        Map<String, Duration> delays = new LinkedHashMap<>();
        for (String id : payloads.keySet()) {
            delays.put(id, delay);
            if (delays.size() == MOST) {
                schedule(payloads, delays);
                delays.clear();
            }
        }
        schedule(payloads, delays);
    }

    /** Schedules tasks that belong together, each after its own delay: all of them, or none if this instance dies. */
    public void schedule(Map<String, String> payloads, Map<String, Duration> delays) {
        List<Object> arguments = new ArrayList<>();
        delays.forEach((id, delay) -> arguments.addAll(List.of(id, payloads.getOrDefault(id, ""), delay.toMillis())));
        if (!arguments.isEmpty()) {
            run(SCHEDULE, ReturnType.VALUE, List.of(DUE, PAYLOADS, LEASED), arguments);
        }
    }

    /** Cancels a task; returns false if there is none, or if it is complete. One that runs has no effect any more. */
    public boolean cancel(String id) {
        RBatch batch = redisson.createBatch(
                BatchOptions.defaults().executionMode(BatchOptions.ExecutionMode.REDIS_WRITE_ATOMIC));
        batch.getScoredSortedSet(DUE, StringCodec.INSTANCE).removeAsync(id);
        batch.getScoredSortedSet(LEASED, StringCodec.INSTANCE).removeAsync(id);
        RFuture<Long> removed = batch.getMap(PAYLOADS, StringCodec.INSTANCE).fastRemoveAsync(id);
        batch.execute();
        return removed.toCompletableFuture().join() == 1;
    }

    /**
     * Claims due tasks for one lease, and those whose last lease has ended.
     *
     * @param most 1 to {@value #MOST}
     */
    public List<Task> claim(int most) {
        if (most < 1 || most > MOST) {
            throw new IllegalArgumentException("most is " + most + "; claim from 1 to " + MOST + " tasks");
        }
        List<String> reply =
                run(CLAIM, ReturnType.LIST, List.of(DUE, PAYLOADS, LEASED, CLAIMS), List.of(most, leaseMillis));
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < reply.size(); i += 3) {
            tasks.add(new Task(reply.get(i), reply.get(i + 1), reply.get(i + 2)));
        }
        return tasks;
    }

    /** Completes claimed tasks and makes them take effect; returns how many, without those that another worker has claimed since. */
    public long complete(List<Task> tasks) {
        List<Object> arguments = new ArrayList<>();
        for (Task task : tasks) {
            arguments.add(task.id());
            arguments.add(task.lease());
        }
        Long completed = run(COMPLETE, ReturnType.LONG, List.of(LEASED, PAYLOADS, EFFECTS), arguments);
        return completed;
    }

    @SuppressWarnings("TypeParameterUnusedInFormals") // The caller knows what its script returns.
    private <R> R run(String lua, ReturnType type, List<Object> keys, List<Object> arguments) {
        return script.eval(Mode.READ_WRITE, lua, type, keys, arguments.toArray());
    }

    /** The first tasks that wait or are leased, each with the milliseconds since 1970 when that ends, by Redis' clock. */
    static Map<String, Long> first(RedissonClient redisson, String key, int most) {
        Map<String, Long> first = new LinkedHashMap<>();
        redisson.<String>getScoredSortedSet(key, StringCodec.INSTANCE)
                .entryRange(0, most - 1)
                .forEach(entry -> first.put(entry.getValue(), entry.getScore().longValue()));
        return first;
    }
}
