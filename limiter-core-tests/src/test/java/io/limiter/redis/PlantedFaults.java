package io.limiter.redis;

import io.limiter.internal.Algorithm;
import io.limiter.kit.PlantedFault;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** The faults that the contract has to find in the scripts. Each line is a name, the right text, and the wrong one. */
final class PlantedFaults {
    /** In the lines that the files have in common; a block counts nothing of a call that is allowed. */
    private static final String CALL = """
            a look that writes ## if s.changed and mode ~= 'look' then ## if s.changed then
            denied calls are counted ## if allowed and not stamp then take(c, s) end ## if not stamp then take(c, s) end
            """;

    private static final String LOG = """
            < for <= at the limit ## s.live + s.added + c.n <= c.limit ## s.live + s.added + c.n < c.limit
            next of the oldest although the limit was lowered ## math.max(0, count - c.limit) ## 0
            a refund of what has expired ## if stamp <= c.now - c.period ## if false
            a lost time to live ## then redis.call('PEXPIRE', c.key, math.ceil(life * 9 / 8)) end ## then life = 0 end
            no never ## c.n > c.limit and -1 ## false
            """;

    private static final String FIXED = """
            < for <= at the limit ## s.count + c.n <= c.limit ## s.count + c.n < c.limit
            a window that is open at its end ## if ends > c.now and count ## if ends >= c.now and count
            no cut of a long window ## if ends > s.latest then ## if false then
            a cut that is not written ## s.ends, s.changed = s.latest, true ## s.ends = s.latest
            a window that each call moves ## if s.count == 0 then s.ends = s.latest end ## s.ends = s.latest
            a calendar that is not looked at ## if c.options == '' then ## if true then
            the second turn ## if turn <= c.now then turn ## if true then turn
            a turn a microsecond late ## return c.now + 1 + ## return c.now + 2 +
            a refund of the next window ## or s.stored ~= stamp then ## then
            a refund that gives all back ## math.max(0, s.count - c.n), true ## 0, true
            a lost time to live ## 'PX', math.ceil((s.ends - c.now) / 1000) ## 'KEEPTTL'
            no never ## c.n > c.limit and -1 or left ## left
            """;

    private static final String LIST = """
            a window closed at its beginning ## if stamp > time then ## if stamp >= time then
            an expired head that counts ## if head <= cut then ## if head < cut then
            the wrong timestamp for retry ## at(c, s, over - 1) + until_us or 0 ## at(c, s, over) + until_us or 0
            a log cleared by a clock that steps back ## local add = s.added + stored - keep ## local add = s.added
            timestamps of the future kept ## s.live > 0 and s.tail > c.now and ## false and
            timestamps of the future counted as such ## or c.now, c.now) ## or c.now, math.huge)
            a trim that takes one more ## c.key, s.first, keep - 1) ## c.key, s.first + 1, keep - 1)
            one stamp for several ## for i = 1, math.min(add, 1000) do ## for i = 1, 1 do
            """;

    private static final String ZSET = """
            a window closed at its beginning ## cut + 1, '+inf') ## cut, '+inf')
            an expired head that counts ## if oldest <= cut then ## if oldest < cut then
            the wrong timestamp for retry ## at(c, s, over - 1) + until_us ## at(c, s, over) + until_us
            names start anew at each call ## missing = missing - in_chunks(c, 'ZADD', 'NX', scored) ## in_chunks(c, 'ZADD', 'NX', scored) missing = 0
            a repeated call is charged ## if not s.repeated then ## if true then
            a repeated call is denied when the log is full ## return s.repeated or s.live ## return s.live
            an expired id is known ## s.repeated = score and score > cut ## s.repeated = score
            an id is not known ## c.id .. ':1') or '')\\n    s.repeated ## c.id .. ':0') or '')\\n    s.repeated
            timestamps of the future kept ## if s.live > 0 and s.newest > c.now then ## if false then
            a refund takes others' permits ## if #gone < c.n and string.find ## if string.find
            a refund takes a call with an id ## and string.find(member, '^:%d+%-%d+$') then ## then
            expired members stay ## if s.expired > 0 then drop(c, s) end ##
            """;

    private static final String BUCKET = """
            > for >= at the cost ## s.level >= c.n * s.parts ## s.level > c.n * s.parts
            floor for ceil ## math.ceil((wanted - s.level) / s.rate) ## math.floor((wanted - s.level) / s.rate)
            ceil for floor ## math.max(0, math.floor(s.level / s.parts)) ## math.max(0, math.ceil(s.level / s.parts))
            a lost gcd ## while b > 0 do a, b = b, a % b end ## a = 1
            credit for time that steps back ## math.max(0, c.now - from) * s.rate ## (c.now - from) * s.rate
            a timestamp that steps back with the clock ## s.level, s.from = level, math.max(from, c.now) ## s.level, s.from = level, c.now
            a timestamp that never returns ## if from > c.now + c.period then ## if false then
            parts carried over as they are ## if stored ~= parts then ## if false then
            only whole permits carried over ## permits * parts + math.max(0, ## permits * parts + 0 * math.max(0,
            a refund that mints what has refilled ## s.level + taken - elapsed * s.rate ## s.level + taken
            no never ## c.n > c.burst and -1 or wait ## wait
            a lost time to live ## 'PX', math.ceil(left / 1000 * 9 / 8 + 1000) ## 'KEEPTTL'
            """;

    private static final String DISTINCT = """
            one member too many ## and s.count < c.limit ## and s.count <= c.limit
            one member too few ## and s.count < c.limit ## and s.count + 1 < c.limit
            a window that is open at its end ## or ends <= c.now then ## or ends < c.now then
            the window's end is a member ## redis.call('ZCARD', c.key) - 1 ## redis.call('ZCARD', c.key)
            a known member is charged ## if not s.added then s.count, s.added, s.stamp = s.count + 1, c.now, c.now end ## s.count, s.added, s.stamp = s.count + 1, s.added or c.now, s.added and 0 or c.now
            a known member is denied ## return s.added and ## return false and
            a repeat is never denied ## c.options ~= 'repeat=deny' ## true
            a member that was used again is removed ## s.stamp > 0 or s.again and s.added > 0 ## s.stamp > 0
            a member of the last window is known ## if s.stored == 0 then forget_all(c) end ##
            no cut of a long window ## s.changed = ends > s.latest ## s.changed = false
            a window that each call moves ## if s.count == 0 or s.ends > s.latest then ## if true then
            a refund of another call ## stamp == 0 or s.added ~= stamp then ## stamp == 0 or not s.added then
            a refund that leaves its member ## redis.call('ZREM', c.key, c.id) ##
            a lost time to live ## redis.call('PEXPIRE', c.key, math ## redis.call('ECHO', math
            members are numbers ## redis.call('ZSCORE', c.key, member) ## redis.call('ZSCORE', c.key, tonumber(member) or member)
            """;

    private static final String BLOCK = """
            one denial too many ## if s.count >= c.limit then ## if s.count > c.limit then
            a block that each denial begins anew ## denied > 0 and s.blocked <= c.now ## denied > 0
            no doubling ## s.forget > c.now and 2 * s.length or 0 ## 0
            a length that is never forgotten ## s.forget > c.now and 2 * s.length ## 2 * s.length
            no longest block ## math.min(longest, math.max(first ## math.max(0, math.max(first
            a window that moves ## if s.count == 0 or s.ends <= c.now then ## if true then
            a window without an end ## s.count == 0 or s.ends <= c.now then ## s.count == 0 then
            no cut of a long block ## if s.blocked > latest then ## if false then
            no cut of a long window ## if s.ends > c.now + c.period then ## if false then
            denials count after the block ## s.count, s.blocked, s.forget = 0, c.now ## s.count, s.blocked, s.forget = s.count, c.now
            a block is open at its end ## return s.after.blocked <= c.now ## return s.after.blocked < c.now
            a lost time to live ## , 'PX',\\n      math.ceil(left / 1000)) ## )
            allowed calls are counted ##   for number in ##   denied = c.n\\n  for number in
            """;

    private static final String ALLOTMENT = """
            one more than the stock ## s.kept + s.held + c.n > c.limit then ## s.kept + s.held + c.n > c.limit + 1 then
            one more for each ## if s.had + c.n > c.burst then ## if s.had + c.n > c.burst + 1 then
            no quantity ## if c.n > c.burst or s.known > 0 then return QUANTITY end ##
            another quantity is a repetition ## return s.known == c.n or ## return s.known > 0 or
            sold when it closes ## if c.now >= s.closes then ## if c.now > s.closes then
            opens too late ## return c.now < s.opens ## return c.now <= s.opens
            an owner reads sold out ## then return ALREADY_HAD end ## then return SOLD_OUT end
            a repeated purchase is charged ##   if s.known == 0 then\\n ##   if true then\\n
            an id of another member ## return 'r' .. member .. ' ' .. request ## return 'r' .. request
            members are numbers ## s.had = tonumber(get(c, s, 'm' .. c.id)) ## s.had = tonumber(get(c, s, 'm' .. (tonumber(c.id) or c.id)))
            a hold that lasts too long ## tonumber(stamp) < s.alive then return nil ## tonumber(stamp) < s.alive - 1 then return nil
            run out a moment too early ## c.now - c.period + 1, ## c.now - c.period + 2,
            what has run out counts ## s.gone = redis.call('ZLEXCOUNT', c.records, '[t', '(t' .. digits(s.alive)) ## s.gone = 0
            a member's holds never run out ## '[m' .. c.id .. ' ' .. digits(s.alive), '(m' ## '[m' .. c.id .. ' ', '(m'
            what other members have on hold ## '(m' .. c.id .. '!') ## '(n')
            a confirmed purchase is returned ## (keeps or one.kind ~= 'paid') ## true
            a confirmation that runs out ## put(s, name, 'paid' .. string.sub(get(c, s, name), 5)) ## put(s, name, get(c, s, name))
            a confirmed permit stays on hold ##     redis.call('ZREMRANGEBYLEX', c.records, '[' .. by_time, '(' .. by_time .. ';')\\n ##
            a returned permit stays with its member ##     redis.call('ZREMRANGEBYLEX', c.records, '[' .. by_member, '(' .. by_member .. ';')\\n ##
            two purchases of one timestamp ## math.max(c.now, s.newest + 1) ## c.now
            a state that is kept too short ##   s.ends = math.max(s.ends, s.closes + DAY)\\n  local set ##   s.ends = s.closes + DAY\\n  local set
            a lost time to live ## redis.call('PEXPIRE', c.key, life) ## redis.call('ECHO', life)
            a lost time to live of what is on hold ## redis.call('PEXPIRE', c.records, life) ## redis.call('ECHO', life)
            one permit at a time ## '0', '50') ## '0', '1')
            more is forgotten than a call may ## '0', '50') ## '0', '51')
            a forgotten permit stays with its member ## permits[#permits + 1] = 'm' .. member ## permits[#permits + 1] = 'n' .. member
            a purchase that is only half forgotten ##   put(s, stamp, '')\\n ##
            what was there before is counted on ##     redis.call('UNLINK', c.key, c.records)\\n ##
            told of a hold above the limit ## from, '(u', over) ## from, '(u', 0)
            told of the first hold instead of the last ## 'ZREVRANGEBYLEX', '(u', from, 0) ## 'ZRANGEBYLEX', from, '(u', 0)
            """;

    /** In what the scripts of reservations have on top. */
    private static final String HOLDS = """
            settled twice ## if redis.call('ZREM', c.records, member) == 1 ## if redis.call('ZSCORE', c.records, member)
            a late one settled twice ## redis.call('ZREM', c.records, '~' .. member) == 0 ## not redis.call('ZSCORE', c.records, '~' .. member)
            a late one pays nothing ## c.keep, stamp), 0, c.actual ## c.keep, stamp), 0, 0
            no bound of a debt ## math.min(base + math.min(excess, s.count and c.limit or c.burst), math.max(0, room)) ## base + excess
            each debt up to the capacity ## math.min(base + math.min(excess, s.count and c.limit or c.burst), math.max(0, room)) ## base + math.min(excess, s.count and c.limit or c.burst)
            an excess for nothing ## excess = math.max(0, c.actual - c.n) ## excess = 0
            all comes back ## base = math.min(c.actual, c.n) ## base = 0
            nothing comes back ## if free(c, s, c.n, stamp) then base ## if false then base
            a window of another hold ## s.count > 0 and s.stored == window ## s.count > 0
            no end of a table ## and c.first and full(c) ## and false
            a table of one less ## c.records) < most then return false end\\n  local kept ## c.records) < most - 1 then return false end\\n  local kept
            nothing is purged ## if #old > 0 then ## if false then
            told too early ## return left + math.max ## return math.max
            nothing is held ## c.held, s.changed = c.held + c.n ## c.held, s.changed = c.held + 0
            held permits are not needed ## (c.n + c.held) * s.parts ## c.n * s.parts
            run out a moment late ## if ends <= c.now then ## if ends < c.now then
            what runs out stays held ##       free(c, s, n, window)\\n ##
            a record dies when it runs out ## if ends + keep > c.now then ## if false then
            one at a time ## 'WITHSCORES', 'LIMIT', '0', '50') ## 'WITHSCORES', 'LIMIT', '0', '1')
            a window that is new again ## s.count > 0 and s.ends or s.latest ## s.latest
            a sum that is not kept ##     note(c, s)\\n  elseif ##   elseif
            records that live for ever ## redis.call('PEXPIRE', c.records, math.ceil(life * 9 / 8)) ## life = 0
            what forgets is not told ## 1 + base + excess - charged ## 1
            """;

    private PlantedFaults() {}

    /** Those of calls in flight are planted by a test of their own: the traffic here has one instance. */
    private static Stream<PlantedFault> of(Algorithm algorithm) {
        return switch (algorithm) {
            case FIXED_WINDOW -> PlantedFault.in(algorithm.text(), CALL, FIXED);
            case SLIDING_LIST -> PlantedFault.in(algorithm.text(), CALL, LOG, LIST);
            case SLIDING_ZSET -> PlantedFault.in(algorithm.text(), CALL, LOG, ZSET);
            case TOKEN_BUCKET -> PlantedFault.in(algorithm.text(), CALL, BUCKET);
            case DISTINCT -> PlantedFault.in(algorithm.text(), CALL, DISTINCT);
            case BLOCK -> PlantedFault.in(algorithm.text(), BLOCK);
            case ALLOTMENT -> PlantedFault.in(algorithm.text(), ALLOTMENT);
            case CONCURRENT -> Stream.empty();
        };
    }

    static Stream<Arguments> all() {
        return Stream.of(Algorithm.values())
                .flatMap(algorithm -> of(algorithm).map(fault -> Arguments.of(algorithm, fault)));
    }

    static Stream<PlantedFault> ofHolds() {
        return PlantedFault.in("holds", HOLDS);
    }
}
