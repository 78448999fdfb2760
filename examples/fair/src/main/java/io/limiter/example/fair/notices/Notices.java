package io.limiter.example.fair.notices;

import io.limiter.example.fair.notices.Notice.Kind;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.redisson.api.BatchOptions;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RBatch;
import org.redisson.api.RMap;
import org.redisson.api.RMapAsync;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Notices to voters. Thread-safe; all instances share what is in Redis.
 *
 * <p>{@link #publish} puts a notice into a queue, personal ones before global ones. {@link #deliverNext} takes the first
 * one and pushes it to the inbox of each voter who is active. The others pull what they missed when they come back, in
 * {@link #arrive}. A notice that is both pushed and pulled is in the inbox once.
 */
public final class Notices {
    /** A delivered notice, and into how many inboxes it was pushed. */
    public record Delivery(Notice notice, int pushed) {}

    /** A voter counts as active for so long after the last arrival. */
    static final Duration ACTIVE = Duration.ofMinutes(5);

    /** The number of the latest global notices that can be pulled. */
    private static final int GLOBAL_KEPT = 100;

    private static final Duration KEPT = Duration.ofDays(30);
    /** Of the keys that change together: one hash tag. The inboxes have none, so that a cluster spreads them. */
    private static final String PREFIX = "fair:{notices}:";

    private static final String NOTICE = PREFIX + "notice:";
    private static final String QUEUE = PREFIX + "queue";
    /** Voters by their last arrival. */
    private static final String ACTIVE_VOTERS = PREFIX + "active";

    private static final String NOW = """
            local time = redis.call('TIME')
            local now = time[1] * 1000 + math.floor(time[2] / 1000)
            """;

    /** KEYS active. ARGV voter. */
    private static final String COME = NOW + """
            redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
            """;

    /** KEYS active. ARGV how long one is active, in ms. */
    private static final String ACTIVE_NOW = NOW + """
            redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ARGV[1]))
            return redis.call('ZRANGE', KEYS[1], 0, -1)
            """;

    /** Greater than any id: a score is kind * this + id, exact as a double. */
    private static final double KIND = 1e12;

    private final RedissonClient redisson;
    private final Inboxes inboxes;
    private final RAtomicLong ids;
    /** Ids of the notices to deliver: by kind, then in the order of publishing. */
    private final RScoredSortedSet<String> queue;
    /** Ids of the latest global notices. */
    private final RScoredSortedSet<String> global;

    private final RScript script;

    /** Notices in {@code fair:{notices}:*}, inboxes in {@code fair:notices:inbox:*}. By Redis' clock it is decided who is active. */
    public Notices(RedissonClient redisson) {
        this.redisson = redisson;
        this.inboxes = new Inboxes(redisson, "fair:notices:inbox:", NOTICE, KEPT);
        this.script = redisson.getScript(StringCodec.INSTANCE);
        this.ids = redisson.getAtomicLong(PREFIX + "ids");
        this.queue = redisson.getScoredSortedSet(QUEUE, StringCodec.INSTANCE);
        this.global = redisson.getScoredSortedSet(PREFIX + "global", StringCodec.INSTANCE);
    }

    /** Queues a notice for one voter, or for all if the voter is null. Returns its id. */
    public long publish(@Nullable String voter, String title, String text) {
        long id = ids.incrementAndGet();
        Kind kind = voter == null ? Kind.GLOBAL : Kind.PERSONAL;
        Map<String, String> fields = new HashMap<>(Map.of("kind", kind.name(), "title", title, "text", text));
        if (voter != null) {
            fields.put("voter", voter);
        }
        // One transaction: no crash leaves a notice that nobody gets, or one that never expires. Sent twice, it changes
        // nothing.
        RBatch batch = redisson.createBatch(
                BatchOptions.defaults().executionMode(BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC));
        RMapAsync<String, String> notice = batch.getMap(NOTICE + id, StringCodec.INSTANCE);
        notice.putAllAsync(fields);
        notice.expireAsync(KEPT);
        batch.getScoredSortedSet(QUEUE, StringCodec.INSTANCE).addAsync(kind.ordinal() * KIND + id, String.valueOf(id));
        batch.execute();
        return id;
    }

    /**
     * Delivers the first notice of the queue; empty if there is none. It leaves the queue at the end: if an instance
     * dies in the middle, another one delivers the notice again, which changes nothing for voters who have it.
     */
    public Optional<Delivery> deliverNext() {
        String id = queue.first();
        while (id != null) {
            Map<String, String> fields = notice(id).readAllMap();
            if (!fields.isEmpty()) {
                return Optional.of(deliver(id, fields));
            }
            // It expired while it waited.
            queue.remove(id);
            id = queue.first();
        }
        return Optional.empty();
    }

    private Delivery deliver(String id, Map<String, String> fields) {
        Notice notice = new Notice(
                Long.parseLong(id),
                Kind.valueOf(fields.getOrDefault("kind", "")),
                fields.getOrDefault("title", ""),
                fields.getOrDefault("text", ""));
        Collection<String> voters = List.of(fields.getOrDefault("voter", ""));
        if (notice.kind() == Kind.GLOBAL) {
            // In this order: who arrives after the list of active voters was read finds the notice here and pulls it.
            global.add((double) notice.id(), id);
            global.removeRangeByRank(0, -1 - GLOBAL_KEPT);
            voters = active();
        }
        inboxes.push(voters, notice.id(), notice.kind());
        queue.remove(id);
        return new Delivery(notice, voters.size());
    }

    /** A voter comes, or is still there. Pulls the global notices that its inbox lacks; returns their number. */
    public int arrive(String voter) {
        // In this order: see deliverNext.
        script.eval(Mode.READ_WRITE, COME, ReturnType.VALUE, List.of(ACTIVE_VOTERS), voter);
        Map<Long, Kind> latest = new HashMap<>();
        global.readAll().forEach(id -> latest.put(Long.parseLong(id), Kind.GLOBAL));
        return inboxes.pull(voter, latest);
    }

    /** The first notices of a voter's inbox: personal ones, then global ones, the newest first. */
    public List<Notice> inbox(String voter, int count) {
        return inboxes.read(voter, count);
    }

    /** The voters who are active. */
    public Collection<String> active() {
        return script.<List<String>>eval(
                Mode.READ_WRITE, ACTIVE_NOW, ReturnType.LIST, List.of(ACTIVE_VOTERS), ACTIVE.toMillis());
    }

    /** The ids of the notices that wait to be delivered, the next one first. */
    public Collection<String> queued() {
        return queue.readAll();
    }

    private RMap<String, String> notice(String id) {
        return redisson.getMap(NOTICE + id, StringCodec.INSTANCE);
    }
}
