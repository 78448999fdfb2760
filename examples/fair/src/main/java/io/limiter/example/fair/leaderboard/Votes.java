package io.limiter.example.fair.leaderboard;

import java.util.ArrayList;
import java.util.List;
import org.redisson.api.RAtomicLong;
import org.redisson.api.RedissonClient;

/**
 * The candidates by votes and the voters by points, in rounds. A vote changes all boards in one step: no crash leaves a vote without its
 * points, and what is still on its way when a round is cleared counts nothing. Thread-safe; all instances share what is in Redis.
 */
final class Votes {
    /** KEYS from 5: round, candidates, voters. ARGV from 7: round, candidate, negated points. */
    private static final SegmentedLeaderboard.Script VOTE = new SegmentedLeaderboard.Script(
            "if (redis.call('GET', KEYS[5]) or '0') ~= ARGV[7] then return -1 end", """
            redis.call('ZINCRBY', KEYS[6], -1, ARGV[8])
            redis.call('ZINCRBY', KEYS[7], ARGV[9], ARGV[1])
            """);

    /** KEYS from 3: round, candidates, voters. ARGV from 3: candidates. */
    private static final SegmentedLeaderboard.Script NEXT_ROUND = new SegmentedLeaderboard.Script("", """
            redis.call('INCR', KEYS[3])
            redis.call('DEL', KEYS[4], KEYS[5])
            for i = 3, #ARGV do redis.call('ZADD', KEYS[4], 0, ARGV[i]) end
            """);

    private static final long SEGMENT = 100;

    private final List<String> names;
    private final Leaderboard candidates;
    private final Leaderboard voters;
    private final SegmentedLeaderboard segments;
    private final RAtomicLong round;
    private final List<String> keys;

    Votes(RedissonClient redisson, List<String> names) {
        this.names = names;
        candidates = new Leaderboard(redisson, "candidates");
        voters = new Leaderboard(redisson, "voters");
        segments = new SegmentedLeaderboard(redisson, "voters", SEGMENT);
        round = redisson.getAtomicLong("fair:{leaderboard}:round");
        keys = List.of(round.getName(), candidates.key(), voters.key());
        names.forEach(name -> candidates.add(name, 0));
    }

    /** The number of the present round. */
    long round() {
        return round.get();
    }

    /** A vote for a candidate, which gives the voter points. Returns false, and counts nothing, if another round has begun. */
    boolean vote(long round, String candidate, String voter, long points) {
        List<String> arguments = List.of(Long.toString(round), candidate, Long.toString(-points));
        return segments.add(voter, points, VOTE, keys, arguments).isPresent();
    }

    /** Removes all votes and points, and begins the next round, in one step. */
    void clear() {
        segments.clear(NEXT_ROUND, keys, new ArrayList<>(names));
    }

    Leaderboard candidates() {
        return candidates;
    }

    Leaderboard voters() {
        return voters;
    }

    SegmentedLeaderboard segments() {
        return segments;
    }
}
