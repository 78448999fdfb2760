package io.limiter.example.fair.notices;

import io.limiter.example.fair.notices.Notice.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RFuture;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RScoredSortedSetAsync;
import org.redisson.api.RedissonClient;
import org.redisson.api.SortOrder;
import org.redisson.client.codec.StringCodec;

/**
 * The inboxes of voters: one sorted set of ids each, personal notices first, then the newest first. Each way to write
 * and to read them is here twice or more, with and without pipelining, so that they can be compared. Thread-safe.
 */
public final class Inboxes {
    /** Greater than any id: a score is kind * this - id, exact as a double. */
    private static final double KIND = 1e12;

    /** The number of inboxes that are written in one go. It bounds what this JVM and Redis keep in memory for a fan-out. */
    private static final int CHUNK = 5_000;

    private static final Duration KEPT = Duration.ofDays(30);
    private static final List<String> FIELDS = List.of("kind", "title", "text");

    private final RedissonClient redisson;
    private final String prefix;

    /** The inboxes {@code <prefix>inbox:<voter>}, of the notices {@code <prefix>notice:<id>}. */
    public Inboxes(RedissonClient redisson, String prefix) {
        this.redisson = redisson;
        this.prefix = prefix;
    }

    /** Puts a notice into the inboxes, pipelined: many commands are sent before the first reply is read. */
    public void push(Collection<String> voters, long id, Kind kind) {
        Iterator<String> left = voters.iterator();
        while (left.hasNext()) {
            RBatch batch = redisson.createBatch(BatchOptions.defaults());
            for (int i = 0; i < CHUNK && left.hasNext(); i++) {
                RScoredSortedSetAsync<String> inbox =
                        batch.getScoredSortedSet(inboxKey(left.next()), StringCodec.INSTANCE);
                inbox.addAsync(score(id, kind), String.valueOf(id));
                inbox.expireAsync(KEPT);
            }
            batch.execute();
        }
    }

    /** The same, each command sent when the reply to the one before it was read. */
    public void pushOneByOne(Collection<String> voters, long id, Kind kind) {
        for (String voter : voters) {
            RScoredSortedSet<String> inbox = inbox(voter);
            inbox.add(score(id, kind), String.valueOf(id));
            inbox.expire(KEPT);
        }
    }

    /** Puts those of the notices into an inbox that it does not have, with one command. Returns their number. */
    public int pull(String voter, Map<Long, Kind> notices) {
        Map<String, Double> scores = new HashMap<>();
        notices.forEach((id, kind) -> scores.put(String.valueOf(id), score(id, kind)));
        RScoredSortedSet<String> inbox = inbox(voter);
        int pulled = scores.isEmpty() ? 0 : inbox.addAllIfAbsent(scores);
        inbox.expire(KEPT);
        return pulled;
    }

    /**
     * The first notices of an inbox by SORT ... GET: one command joins the inbox with the notices. A cluster refuses it,
     * because the notices may be on other nodes than the inbox.
     */
    public List<Notice> read(String voter, int count) {
        List<String> patterns = new ArrayList<>(List.of("#"));
        FIELDS.forEach(field -> patterns.add(prefix + "notice:*->" + field));
        // BY a pattern without a star: no sorting, the order is that of the sorted set.
        // Through a list's object, which keeps all values: that of a sorted set returns them as a set, and two equal
        // titles as one.
        Iterator<@Nullable String> values = redisson.<String>getList(inboxKey(voter), StringCodec.INSTANCE)
                .<@Nullable String>readSort("nosort", patterns, SortOrder.ASC, 0, count)
                .iterator();
        List<Notice> read = new ArrayList<>();
        while (values.hasNext()) {
            add(read, values.next(), values.next(), values.next(), values.next());
        }
        return read;
    }

    /** The same in two round trips: the ids, then an HMGET for each notice, pipelined. It works in a cluster too. */
    public List<Notice> readPipelined(String voter, int count) {
        Collection<String> ids = inbox(voter).valueRange(0, count - 1);
        RBatch batch = redisson.createBatch();
        List<RFuture<Map<String, String>>> notices = new ArrayList<>();
        for (String id : ids) {
            notices.add(batch.<String, String>getMap(noticeKey(id), StringCodec.INSTANCE)
                    .getAllAsync(Set.copyOf(FIELDS)));
        }
        if (!ids.isEmpty()) {
            batch.execute();
        }
        List<Notice> read = new ArrayList<>();
        Iterator<RFuture<Map<String, String>>> found = notices.iterator();
        for (String id : ids) {
            Map<String, String> notice = found.next().toCompletableFuture().join();
            add(read, id, notice.get("kind"), notice.get("title"), notice.get("text"));
        }
        return read;
    }

    /** The same with a round trip for each notice. */
    public List<Notice> readOneByOne(String voter, int count) {
        List<Notice> read = new ArrayList<>();
        for (String id : inbox(voter).valueRange(0, count - 1)) {
            Map<String, String> notice = redisson.<String, String>getMap(noticeKey(id), StringCodec.INSTANCE)
                    .getAll(Set.copyOf(FIELDS));
            add(read, id, notice.get("kind"), notice.get("title"), notice.get("text"));
        }
        return read;
    }

    /** Removes the inboxes. */
    public void delete(Collection<String> voters) {
        redisson.getKeys().delete(voters.stream().map(this::inboxKey).toArray(String[]::new));
    }

    /** The key of a notice: a hash. */
    String noticeKey(String id) {
        return prefix + "notice:" + id;
    }

    /** Leaves out a notice that has expired; its id may still be in the inbox. */
    private static void add(
            List<Notice> read,
            @Nullable String id,
            @Nullable String kind,
            @Nullable String title,
            @Nullable String text) {
        if (id != null && kind != null && title != null && text != null) {
            read.add(new Notice(Long.parseLong(id), Kind.valueOf(kind), title, text));
        }
    }

    private static double score(long id, Kind kind) {
        return kind.ordinal() * KIND - id;
    }

    private String inboxKey(String voter) {
        return prefix + "inbox:" + voter;
    }

    private RScoredSortedSet<String> inbox(String voter) {
        return redisson.getScoredSortedSet(inboxKey(voter), StringCodec.INSTANCE);
    }
}
