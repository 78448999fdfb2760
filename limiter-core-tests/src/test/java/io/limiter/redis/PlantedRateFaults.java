package io.limiter.redis;

import io.limiter.internal.Algorithm;
import java.util.stream.Stream;

/** Faults in the scripts of rates, members and blocks. Each is a name, the right text, and the wrong one. */
final class PlantedRateFaults {
    /** In the lines that the files have in common; a block counts nothing of a call that is allowed. */
    private static final String[][] CALL = {
        {"a look that writes", "if s.changed and mode ~= 'look' then", "if s.changed then"},
        {"denied calls are counted", "if allowed and not stamp then take(c, s) end", "if not stamp then take(c, s) end"
        },
    };

    private static final String[][] LOG = {
        {"< for <= at the limit", "s.live + s.added + c.n <= c.limit", "s.live + s.added + c.n < c.limit"},
        {"next of the oldest although the limit was lowered", "math.max(0, count - c.limit)", "0"},
        {"a refund of what has expired", "if stamp <= c.now - c.period", "if false"},
        {"a lost time to live", "then redis.call('PEXPIRE', c.key, math.ceil(life * 9 / 8)) end", "then life = 0 end"},
        {"no never", "c.n > c.limit and -1", "false"},
    };

    private static final String[][] FIXED = {
        {"< for <= at the limit", "s.count + c.n <= c.limit", "s.count + c.n < c.limit"},
        {"a window that is open at its end", "if ends > c.now and count", "if ends >= c.now and count"},
        {"no cut of a long window", "if ends > s.latest then", "if false then"},
        {"a cut that is not written", "s.ends, s.changed = s.latest, true", "s.ends = s.latest"},
        {"a window that each call moves", "if s.count == 0 then s.ends = s.latest end", "s.ends = s.latest"},
        {"a calendar that is not looked at", "if c.options == '' then", "if true then"},
        {"the second turn", "if turn <= c.now then turn", "if true then turn"},
        {"a turn a microsecond late", "return c.now + 1 +", "return c.now + 2 +"},
        {"a refund of the next window", "or s.stored ~= stamp then", "then"},
        {"a refund that gives all back", "math.max(0, s.count - c.n), true", "0, true"},
        {"a lost time to live", "'PX', math.ceil((s.ends - c.now) / 1000)", "'KEEPTTL'"},
        {"no never", "c.n > c.limit and -1 or left", "left"},
    };

    private static final String[][] LIST = {
        {"a window closed at its beginning", "if stamp > time then", "if stamp >= time then"},
        {"an expired head that counts", "if head <= cut then", "if head < cut then"},
        {"the wrong timestamp for retry", "at(c, s, over - 1) + until_us or 0", "at(c, s, over) + until_us or 0"},
        {"a log cleared by a clock that steps back", "local add = s.added + stored - keep", "local add = s.added"},
        {"timestamps of the future kept", "s.live > 0 and s.tail > c.now and", "false and"},
        {"timestamps of the future counted as such", "or c.now, c.now)", "or c.now, math.huge)"},
        {"a trim that takes one more", "c.key, s.first, keep - 1)", "c.key, s.first + 1, keep - 1)"},
        {"one stamp for several", "for i = 1, math.min(add, 1000) do", "for i = 1, 1 do"},
    };

    private static final String[][] ZSET = {
        {"a window closed at its beginning", "cut + 1, '+inf')", "cut, '+inf')"},
        {"an expired head that counts", "if oldest <= cut then", "if oldest < cut then"},
        {"the wrong timestamp for retry", "at(c, s, over - 1) + until_us", "at(c, s, over) + until_us"},
        {
            "names start anew at each call",
            "missing = missing - in_chunks(c, 'ZADD', 'NX', scored)",
            "in_chunks(c, 'ZADD', 'NX', scored) missing = 0"
        },
        {"a repeated call is charged", "if not s.repeated then", "if true then"},
        {"a repeated call is denied when the log is full", "return s.repeated or s.live", "return s.live"},
        {"an expired id is known", "s.repeated = score and score > cut", "s.repeated = score"},
        {"an id is not known", "c.id .. ':1') or '')\n    s.repeated", "c.id .. ':0') or '')\n    s.repeated"},
        {"timestamps of the future kept", "if s.live > 0 and s.newest > c.now then", "if false then"},
        {"a refund takes others' permits", "if #gone < c.n and string.find", "if string.find"},
        {"a refund takes a call with an id", "and string.find(member, '^:%d+%-%d+$') then", "then"},
        {"expired members stay", "if s.expired > 0 then drop(c, s) end", ""},
    };

    private static final String[][] BUCKET = {
        {"> for >= at the cost", "s.level >= c.n * s.parts", "s.level > c.n * s.parts"},
        {"floor for ceil", "math.ceil((wanted - s.level) / s.rate)", "math.floor((wanted - s.level) / s.rate)"},
        {"ceil for floor", "math.max(0, math.floor(s.level / s.parts))", "math.max(0, math.ceil(s.level / s.parts))"},
        {"a lost gcd", "while b > 0 do a, b = b, a % b end", "a = 1"},
        {"credit for time that steps back", "math.max(0, c.now - from) * s.rate", "(c.now - from) * s.rate"},
        {
            "a timestamp that steps back with the clock",
            "s.level, s.from = level, math.max(from, c.now)",
            "s.level, s.from = level, c.now"
        },
        {"a timestamp that never returns", "if from > c.now + c.period then", "if false then"},
        {"parts carried over as they are", "if stored ~= parts then", "if false then"},
        {"only whole permits carried over", "permits * parts + math.max(0,", "permits * parts + 0 * math.max(0,"},
        {"a refund that mints what has refilled", "s.level + taken - elapsed * s.rate", "s.level + taken"},
        {"no never", "c.n > c.burst and -1 or wait", "wait"},
        {"a lost time to live", "'PX', math.ceil(left / 1000 * 9 / 8 + 1000)", "'KEEPTTL'"},
    };

    private static final String[][] DISTINCT = {
        {"one member too many", "and s.count < c.limit", "and s.count <= c.limit"},
        {"one member too few", "and s.count < c.limit", "and s.count + 1 < c.limit"},
        {"a window that is open at its end", "or ends <= c.now then", "or ends < c.now then"},
        {"the window's end is a member", "redis.call('ZCARD', c.key) - 1", "redis.call('ZCARD', c.key)"},
        {
            "a known member is charged",
            "if not s.added then s.count, s.added, s.stamp = s.count + 1, c.now, c.now end",
            "s.count, s.added, s.stamp = s.count + 1, s.added or c.now, s.added and 0 or c.now"
        },
        {"a known member is denied", "return s.added and", "return false and"},
        {"a repeat is never denied", "c.options ~= 'repeat=deny'", "true"},
        {"a member that was used again is removed", "s.stamp > 0 or s.again and s.added > 0", "s.stamp > 0"},
        {"a member of the last window is known", "if s.stored == 0 then forget_all(c) end", ""},
        {"no cut of a long window", "s.changed = ends > s.latest", "s.changed = false"},
        {"a window that each call moves", "if s.count == 0 or s.ends > s.latest then", "if true then"},
        {"a refund of another call", "stamp == 0 or s.added ~= stamp then", "stamp == 0 or not s.added then"},
        {"a refund that leaves its member", "redis.call('ZREM', c.key, c.id)", ""},
        {"a lost time to live", "redis.call('PEXPIRE', c.key, math", "redis.call('ECHO', math"},
        {
            "members are numbers",
            "redis.call('ZSCORE', c.key, member)",
            "redis.call('ZSCORE', c.key, tonumber(member) or member)"
        },
    };

    private static final String[][] BLOCK = {
        {"one denial too many", "if s.count >= c.limit then", "if s.count > c.limit then"},
        {"a block that each denial begins anew", "denied > 0 and s.blocked <= c.now", "denied > 0"},
        {"no doubling", "s.forget > c.now and 2 * s.length or 0", "0"},
        {"a length that is never forgotten", "s.forget > c.now and 2 * s.length", "2 * s.length"},
        {"no longest block", "math.min(longest, math.max(first", "math.max(0, math.max(first"},
        {"a window that moves", "if s.count == 0 or s.ends <= c.now then", "if true then"},
        {"a window without an end", "s.count == 0 or s.ends <= c.now then", "s.count == 0 then"},
        {"no cut of a long block", "if s.blocked > latest then", "if false then"},
        {"no cut of a long window", "if s.ends > c.now + c.period then", "if false then"},
        {
            "denials count after the block",
            "s.count, s.blocked, s.forget = 0, c.now",
            "s.count, s.blocked, s.forget = s.count, c.now"
        },
        {"a block is open at its end", "return s.after.blocked <= c.now", "return s.after.blocked < c.now"},
        {"a lost time to live", ", 'PX',\n      math.ceil(left / 1000))", ")"},
        {"allowed calls are counted", "  for number in", "  denied = c.n\n  for number in"},
    };

    private PlantedRateFaults() {}

    static Stream<PlantedFaults.Fault> faults() {
        return Stream.of(
                        of(Algorithm.FIXED_WINDOW, CALL, FIXED),
                        of(Algorithm.SLIDING_LIST, CALL, LOG, LIST),
                        of(Algorithm.SLIDING_ZSET, CALL, LOG, ZSET),
                        of(Algorithm.TOKEN_BUCKET, CALL, BUCKET),
                        of(Algorithm.DISTINCT, CALL, DISTINCT),
                        of(Algorithm.BLOCK, BLOCK))
                .flatMap(all -> all);
    }

    private static Stream<PlantedFaults.Fault> of(Algorithm algorithm, String[][]... tables) {
        return Stream.of(tables)
                .flatMap(Stream::of)
                .map(fault -> new PlantedFaults.Fault(algorithm, fault[0], fault[1], fault[2]));
    }
}
