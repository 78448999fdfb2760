package io.limiter.example.fair.leaderboard;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
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
    /** What else a script does in the same step: at its beginning, where it can return -1, and at its end. */
    record Script(String begin, String end) {}

    private static final Script ALONE = new Script("", "");

    /** KEYS points, segments, from, to. ARGV member, old, new, score, from, to. Does nothing if the points are not those that were read. */
    private static final String MOVE = """
            %s
            if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
            redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
            redis.call('ZREM', KEYS[3], ARGV[1])
            if redis.call('EXISTS', KEYS[3]) == 0 then redis.call('ZREM', KEYS[2], ARGV[5]) end
            redis.call('ZADD', KEYS[4], ARGV[4], ARGV[1])
            redis.call('ZADD', KEYS[2], '-' .. ARGV[6], ARGV[6])
            %s
            return 1
            """;

    /** KEYS points, segments, other keys, one key a segment. ARGV segments, number of other keys. Does nothing if there are other segments. */
    private static final String CLEAR = """
            %s
            if table.concat(redis.call('ZRANGE', KEYS[2], 0, -1), ' ') ~= ARGV[1] then return 0 end
            for i = 3 + ARGV[2], #KEYS do redis.call('DEL', KEYS[i]) end
            redis.call('DEL', KEYS[1], KEYS[2])
            %s
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
        return add(member, added, ALONE, List.of(), List.of()).orElseThrow();
    }

    /** The same together with more; empty if that has refused it. Its keys and arguments follow those of the move. */
    OptionalLong add(String member, long added, Script more, List<String> keys, List<String> arguments) {
        while (true) {
            String old = points.get(member);
            long now = (old == null ? 0 : Long.parseLong(old)) + added;
            if (now < 0) {
                throw new IllegalArgumentException(member + " would have " + now + " points; the least is 0");
            }
            String from = String.valueOf((old == null ? now : Long.parseLong(old)) / width);
            String to = String.valueOf(now / width);
            List<Object> allKeys =
                    new ArrayList<>(List.of(points.getName(), segments.getName(), prefix + from, prefix + to));
            allKeys.addAll(keys);
            List<Object> all = new ArrayList<>(List.of(member, old == null ? "" : old, now, -now, from, to));
            all.addAll(arguments);
            long moved = run(MOVE, more, allKeys, all);
            if (moved != 0) {
                return moved < 0 ? OptionalLong.empty() : OptionalLong.of(now);
            }
        }
    }

    /** The points of a member; empty if the board does not have it. */
    public OptionalLong points(String member) {
        String its = points.get(member);
        return its == null ? OptionalLong.empty() : OptionalLong.of(Long.parseLong(its));
    }

    /**
     * The members of these ranks, both included; fewer where the board ends. It reads all better ones, too.
     *
     * @throws IllegalArgumentException if the first rank is less than 1
     */
    public List<Row> range(int first, int last) {
        if (first < 1) {
            throw new IllegalArgumentException("the first rank is " + first + "; the best one is 1");
        }
        List<Row> best = top(Math.max(0, last));
        return best.subList(Math.min(first - 1, best.size()), best.size());
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

    /** Removes everybody, in one step. */
    public void clear() {
        clear(ALONE, List.of(), List.of());
    }

    /** The same together with more. Its keys are from 3 on, its arguments, too. */
    void clear(Script more, List<String> keys, List<String> arguments) {
        long cleared = 0;
        while (cleared == 0) {
            Collection<String> all = segments.readAll();
            List<Object> allKeys = new ArrayList<>(List.of(points.getName(), segments.getName()));
            allKeys.addAll(keys);
            all.forEach(segment -> allKeys.add(prefix + segment));
            List<Object> allArguments = new ArrayList<>(List.of(String.join(" ", all), keys.size()));
            allArguments.addAll(arguments);
            cleared = run(CLEAR, more, allKeys, allArguments);
        }
    }

    private long run(String lua, Script more, List<Object> keys, List<Object> arguments) {
        return script.<Long>eval(
                RScript.Mode.READ_WRITE,
                lua.formatted(more.begin(), more.end()),
                RScript.ReturnType.LONG,
                keys,
                arguments.toArray());
    }

    private RScoredSortedSet<String> segment(String number) {
        return redisson.getScoredSortedSet(prefix + number, StringCodec.INSTANCE);
    }
}
