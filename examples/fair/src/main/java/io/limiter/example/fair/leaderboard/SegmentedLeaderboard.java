package io.limiter.example.fair.leaderboard;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.redisson.api.BatchOptions;
import org.redisson.api.RBatch;
import org.redisson.api.RFuture;
import org.redisson.api.RMap;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RScript;
import org.redisson.api.RedissonClient;
import org.redisson.api.options.OptionalOptions;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.ScoredEntry;

/**
 * The same board as {@link Leaderboard}, cut into one sorted set for each range of points. Same order, same ranks.
 * Thread-safe; all instances share one board.
 *
 * <p>A member has to leave its old segment in the same step in which it enters the new one. Two sorted sets change in
 * one step only in a script, so this class has one; Redisson has no object for it.
 */
public final class SegmentedLeaderboard {
    /** Does nothing and returns false if the member's points are not those that the caller read. */
    private static final String MOVE = """
            local points, segments, from, to = unpack(KEYS)
            local member, old, new, score, fromSegment, toSegment = unpack(ARGV)
            if (redis.call('HGET', points, member) or '') ~= old then
              return 0
            end
            redis.call('HSET', points, member, new)
            redis.call('ZREM', from, member)
            if redis.call('EXISTS', from) == 0 then
              redis.call('ZREM', segments, fromSegment)
            end
            redis.call('ZADD', to, score, member)
            redis.call('ZADD', segments, '-' .. toSegment, toSegment)
            return 1
            """;

    private final RedissonClient redisson;
    private final String prefix;
    private final long width;
    private final RMap<String, String> points;
    /** The numbers of the segments that have members; the best segment first. */
    private final RScoredSortedSet<String> segments;

    private final RScript script;

    /** The board {@code fair:{leaderboard}:<name>}; a segment has this many different numbers of points. */
    public SegmentedLeaderboard(RedissonClient redisson, String name, long width) {
        this.redisson = redisson;
        this.prefix = "fair:{leaderboard}:" + name + ":";
        this.width = width;
        this.points = redisson.getMap(prefix + "points", StringCodec.INSTANCE);
        this.segments = redisson.getScoredSortedSet(prefix + "segments", StringCodec.INSTANCE);
        // Redisson sends a script again after a timeout. The second one would find other points than it expects, and
        // the points would be added twice.
        this.script = redisson.getScript(
                OptionalOptions.defaults().codec(StringCodec.INSTANCE).retryAttempts(0));
    }

    /**
     * Adds points to a member, and to a new one from 0. Returns its points.
     *
     * @throws IllegalArgumentException if the member would have less than 0 points
     */
    public long add(String member, long added) {
        while (true) {
            String old = points.get(member);
            long now = (old == null ? 0 : Long.parseLong(old)) + added;
            if (now < 0) {
                throw new IllegalArgumentException(member + " would have " + now + " points; the least is 0");
            }
            if (move(member, old, now)) {
                return now;
            }
        }
    }

    /**
     * The best members, at most this many. A member that changes its segment while the segments are read appears once
     * or not at all.
     */
    public List<Row> top(int count) {
        Map<String, Long> best = new LinkedHashMap<>();
        for (String segment : segments.readAll()) {
            if (best.size() >= count) {
                break;
            }
            for (ScoredEntry<String> entry : segment(segment).entryRange(0, count - 1)) {
                best.putIfAbsent(entry.getValue(), -Math.round(entry.getScore()));
            }
        }
        List<Row> rows = new ArrayList<>();
        best.forEach((member, its) -> rows.add(new Row(rows.size() + 1, member, its)));
        return rows.subList(0, Math.min(count, rows.size()));
    }

    /** The rank of a member, 1 for the best; empty if the board does not have it. */
    public OptionalInt rank(String member) {
        while (true) {
            String its = points.get(member);
            if (its == null) {
                return OptionalInt.empty();
            }
            String own = String.valueOf(Long.parseLong(its) / width);
            Collection<String> all = segments.readAll();
            // One transaction: all sizes are those of one moment.
            RBatch batch = redisson.createBatch(
                    BatchOptions.defaults().executionMode(BatchOptions.ExecutionMode.IN_MEMORY_ATOMIC));
            List<RFuture<Integer>> before = new ArrayList<>();
            for (String segment : all) {
                if (segment.equals(own)) {
                    break;
                }
                before.add(batch.<String>getScoredSortedSet(prefix + segment, StringCodec.INSTANCE)
                        .sizeAsync());
            }
            RFuture<Integer> within = batch.<String>getScoredSortedSet(prefix + own, StringCodec.INSTANCE)
                    .rankAsync(member);
            batch.execute();
            Integer index = within.toCompletableFuture().join();
            if (index != null) {
                int better = before.stream()
                        .mapToInt(size -> size.toCompletableFuture().join())
                        .sum();
                return OptionalInt.of(better + index + 1);
            }
            // The member has just left this segment: look again.
        }
    }

    /** How many members each segment has, by its lowest points; the best segment first. */
    public Map<Long, Integer> sizes() {
        Map<Long, Integer> sizes = new LinkedHashMap<>();
        for (String segment : segments.readAll()) {
            sizes.put(Long.parseLong(segment) * width, segment(segment).size());
        }
        return sizes;
    }

    /** Removes everybody. */
    public void clear() {
        for (String segment : segments.readAll()) {
            segment(segment).delete();
        }
        segments.delete();
        points.delete();
    }

    private boolean move(String member, @Nullable String old, long now) {
        String from = String.valueOf((old == null ? now : Long.parseLong(old)) / width);
        String to = String.valueOf(now / width);
        return script.eval(
                RScript.Mode.READ_WRITE,
                MOVE,
                RScript.ReturnType.BOOLEAN,
                List.of(points.getName(), segments.getName(), prefix + from, prefix + to),
                member,
                old == null ? "" : old,
                String.valueOf(now),
                String.valueOf(-now),
                from,
                to);
    }

    private RScoredSortedSet<String> segment(String number) {
        return redisson.getScoredSortedSet(prefix + number, StringCodec.INSTANCE);
    }
}
