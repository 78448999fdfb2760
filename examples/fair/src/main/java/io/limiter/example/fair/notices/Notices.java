package io.limiter.example.fair.notices;

import io.limiter.example.fair.notices.Notice.Kind;
import java.time.Clock;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RMap;
import org.redisson.api.RScoredSortedSet;
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
    /** Greater than any id: a score is kind * this + id, exact as a double. */
    private static final double KIND = 1e12;

    private final RedissonClient redisson;
    private final Clock clock;
    private final Inboxes inboxes;
    private final RAtomicLong ids;
    /** Ids of the notices to deliver: by kind, then in the order of publishing. */
    private final RScoredSortedSet<String> queue;
    /** Ids of the latest global notices. */
    private final RScoredSortedSet<String> global;
    /** Voters by their last arrival. */
    private final RScoredSortedSet<String> active;

    /** Notices in {@code fair:notices:*}. By the clock it is decided who is active. */
    public Notices(RedissonClient redisson, Clock clock) {
        String prefix = "fair:notices:";
        this.redisson = redisson;
        this.clock = clock;
        this.inboxes = new Inboxes(redisson, prefix);
        this.ids = redisson.getAtomicLong(prefix + "ids");
        this.queue = redisson.getScoredSortedSet(prefix + "queue", StringCodec.INSTANCE);
        this.global = redisson.getScoredSortedSet(prefix + "global", StringCodec.INSTANCE);
        this.active = redisson.getScoredSortedSet(prefix + "active", StringCodec.INSTANCE);
    }

    /** Queues a notice for one voter, or for all if the voter is null. Returns its id. */
    public long publish(@Nullable String voter, String title, String text) {
        long id = ids.incrementAndGet();
        Kind kind = voter == null ? Kind.GLOBAL : Kind.PERSONAL;
        Map<String, String> fields = new HashMap<>(Map.of("kind", kind.name(), "title", title, "text", text));
        if (voter != null) {
            fields.put("voter", voter);
        }
        RMap<String, String> notice = notice(String.valueOf(id));
        notice.putAll(fields);
        notice.expire(KEPT);
        queue.add(kind.ordinal() * KIND + id, String.valueOf(id));
        return id;
    }

    /**
     * Delivers the first notice of the queue; empty if there is none. It leaves the queue at the end: if an instance
     * dies in the middle, another one delivers the notice again, which changes nothing for voters who have it.
     */
    public Optional<Delivery> deliverNext() {
        String id = queue.first();
        if (id == null) {
            return Optional.empty();
        }
        Map<String, String> fields = notice(id).readAllMap();
        if (fields.isEmpty()) {
            // It expired while it waited.
            queue.remove(id);
            return deliverNext();
        }
        Notice notice = new Notice(
                Long.parseLong(id),
                Kind.valueOf(fields.getOrDefault("kind", "")),
                fields.getOrDefault("title", ""),
                fields.getOrDefault("text", ""));
        Collection<String> voters = List.of(fields.getOrDefault("voter", ""));
        if (notice.kind() == Kind.GLOBAL) {
            // In this order: who arrives after the list of active voters was read finds the notice here and pulls it.
            global.add(notice.id(), id);
            global.removeRangeByRank(0, -1 - GLOBAL_KEPT);
            voters = active();
        }
        inboxes.push(voters, notice.id(), notice.kind());
        queue.remove(id);
        return Optional.of(new Delivery(notice, voters.size()));
    }

    /** A voter comes, or is still there. Pulls the global notices that its inbox lacks; returns their number. */
    public int arrive(String voter) {
        // In this order: see deliverNext.
        active.add(clock.millis(), voter);
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
        double since = (double) clock.millis() - ACTIVE.toMillis();
        active.removeRangeByScore(Double.NEGATIVE_INFINITY, true, since, false);
        return active.readAll();
    }

    /** The ids of the notices that wait to be delivered, the next one first. */
    public Collection<String> queued() {
        return queue.readAll();
    }

    private RMap<String, String> notice(String id) {
        return redisson.getMap(inboxes.noticeKey(id), StringCodec.INSTANCE);
    }
}
