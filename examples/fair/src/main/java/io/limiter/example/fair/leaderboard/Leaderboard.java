package io.limiter.example.fair.leaderboard;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.redisson.api.RScoredSortedSet;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.client.protocol.ScoredEntry;

/**
 * A leaderboard in one sorted set. Members with equal points are in the order of their names, so the order depends on
 * the points only, not on which request came first. Thread-safe; all instances share one board.
 *
 * <p>Redis sorts equal scores by name in ascending order only. The score is therefore the negated points, and the best
 * member is the first one. Points up to 2<sup>53</sup> are exact.
 */
public final class Leaderboard {
    private final RScoredSortedSet<String> board;

    /** The board {@code fair:{leaderboard}:<name>}. */
    public Leaderboard(RedissonClient redisson, String name) {
        this.board = redisson.getScoredSortedSet("fair:{leaderboard}:" + name, StringCodec.INSTANCE);
    }

    /** Where it is in Redis. */
    String key() {
        return board.getName();
    }

    /** Adds points, also negative ones, to a member, and to a new one from 0. Returns its points. */
    public long add(String member, long points) {
        return -Math.round(board.addScore(member, -points));
    }

    /** The best members, at most this many. */
    public List<Row> top(int count) {
        return count < 1 ? List.of() : rows(0, count - 1);
    }

    /** The rank of a member, 1 for the best; empty if the board does not have it. */
    public OptionalInt rank(String member) {
        Integer index = board.rank(member);
        return index == null ? OptionalInt.empty() : OptionalInt.of(index + 1);
    }

    /** The points of a member; empty if the board does not have it. */
    public OptionalLong points(String member) {
        Double score = board.getScore(member);
        return score == null ? OptionalLong.empty() : OptionalLong.of(-Math.round(score));
    }

    /**
     * The members of these ranks, both included; fewer where the board ends.
     *
     * @throws IllegalArgumentException if the first rank is less than 1: Redis would take it for one from the other end of the board
     */
    public List<Row> range(int first, int last) {
        if (first < 1) {
            throw new IllegalArgumentException("the first rank is " + first + "; the best one is 1");
        }
        return last < first ? List.of() : rows(first - 1, last - 1);
    }

    /**
     * A member with this many neighbours on each side; near an end of the board, more of the other side, so that the
     * number of rows stays the same. Empty if the board does not have the member.
     */
    public List<Row> around(String member, int neighbours) {
        int wanted = 2 * neighbours + 1;
        for (int reach = 2 * neighbours; ; reach = 2 * reach + 1) {
            Integer index = board.rank(member);
            if (index == null) {
                return List.of();
            }
            // One reply, so its ranks agree with each other. The member may have moved since its rank was read:
            // the window is cut around the place that it has in this reply.
            List<Row> rows = rows(Math.max(0, index - reach), index + reach);
            for (int at = 0; at < rows.size(); at++) {
                if (rows.get(at).member().equals(member)) {
                    int from = Math.max(0, Math.min(at - neighbours, rows.size() - wanted));
                    return rows.subList(from, Math.min(rows.size(), from + wanted));
                }
            }
            // It moved out of reach: look again, further.
        }
    }

    /** The number of members. */
    public int size() {
        return board.size();
    }

    /** Removes everybody. */
    public void clear() {
        board.delete();
    }

    private List<Row> rows(int first, int last) {
        List<Row> rows = new ArrayList<>();
        for (ScoredEntry<String> entry : board.entryRange(first, last)) {
            rows.add(new Row(first + rows.size() + 1, entry.getValue(), -Math.round(entry.getScore())));
        }
        return rows;
    }
}
