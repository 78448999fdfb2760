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
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
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

    /**
     * KEYS inbox. ARGV score, id, ttl in s. In one step, so that no crash leaves an inbox that never expires; of one key, so a cluster takes
     * it, too.
     */
    private static final String PUT = """
            redis.call('ZADD', KEYS[1], ARGV[1], ARGV[2])
            redis.call('EXPIRE', KEYS[1], ARGV[3])
            """;

    private static final List<String> FIELDS = List.of("kind", "title", "text");

    private final RedissonClient redisson;
    private final String inboxes;
    private final String notices;
    private final Duration kept;

    /** The inboxes {@code <inboxes><voter>}, of the notices {@code <notices><id>}; an inbox expires so long after its last change. */
    public Inboxes(RedissonClient redisson, String inboxes, String notices, Duration kept) {
        this.redisson = redisson;
        this.inboxes = inboxes;
        this.notices = notices;
        this.kept = kept;
    }

    /** Puts a notice into the inboxes, pipelined: many commands are sent before the first reply is read. */
    public void push(Collection<String> voters, long id, Kind kind) {
        Iterator<String> left = voters.iterator();
        while (left.hasNext()) {
            RBatch batch = redisson.createBatch(BatchOptions.defaults());
            for (int i = 0; i < CHUNK && left.hasNext(); i++) {
                batch.getScript(StringCodec.INSTANCE)
                        .evalAsync(
                                Mode.READ_WRITE,
                                PUT,
                                ReturnType.VALUE,
                                List.of(inboxKey(left.next())),
                                score(id, kind),
                                id,
                                kept.toSeconds());
            }
            batch.execute();
        }
    }

    /** The same, each command sent when the reply to the one before it was read. */
    public void pushOneByOne(Collection<String> voters, long id, Kind kind) {
        for (String voter : voters) {
            redisson.getScript(StringCodec.INSTANCE)
                    .eval(
                            Mode.READ_WRITE,
                            PUT,
                            ReturnType.VALUE,
                            List.of(inboxKey(voter)),
                            score(id, kind),
                            id,
                            kept.toSeconds());
        }
    }

    /** Puts those of the notices into an inbox that it does not have, in one transaction. Returns their number. */
    public int pull(String voter, Map<Long, Kind> notices) {
        if (notices.isEmpty()) {
            return 0;
        }
        Map<String, Double> scores = new HashMap<>();
        notices.forEach((id, kind) -> scores.put(String.valueOf(id), score(id, kind)));
        RBatch batch = redisson.createBatch(
                BatchOptions.defaults().executionMode(BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC));
        RScoredSortedSetAsync<String> inbox = batch.getScoredSortedSet(inboxKey(voter), StringCodec.INSTANCE);
        RFuture<Integer> pulled = inbox.addAllIfAbsentAsync(scores);
        inbox.expireAsync(kept);
        batch.execute();
        return pulled.toCompletableFuture().join();
    }

    /**
     * The first notices of an inbox by SORT ... GET: one command joins the inbox with the notices. A cluster refuses it,
     * because the notices may be on other nodes than the inbox.
     */
    public List<Notice> read(String voter, int count) {
        List<String> patterns = new ArrayList<>(List.of("#"));
        FIELDS.forEach(field -> patterns.add(notices + "*->" + field));
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
        return notices + id;
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
        return inboxes + voter;
    }

    private RScoredSortedSet<String> inbox(String voter) {
        return redisson.getScoredSortedSet(inboxKey(voter), StringCodec.INSTANCE);
    }
}
