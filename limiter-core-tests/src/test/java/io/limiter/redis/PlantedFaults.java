package io.limiter.redis;

import io.limiter.internal.Algorithm;
import io.limiter.kit.AnyAlgorithm;
import java.util.ArrayList;
import java.util.List;

/** The faults that the contract has to find in the scripts. */
final class PlantedFaults {
    private PlantedFaults() {}

    /** One fault: what is written instead of what, in the script of which algorithm. */
    record Fault(Algorithm algorithm, String name, String right, String wrong) {
        @Override
        public String toString() {
            return algorithm.text() + ": " + name;
        }
    }

    static List<Fault> faults() {
        List<Fault> faults = new ArrayList<>();
        Algorithm fixed = Algorithm.FIXED_WINDOW;
        faults.add(
                new Fault(fixed, "< for <= at the limit", "if count + n > limit then", "if count + n >= limit then"));
        faults.add(new Fault(fixed, "a window that is open at its end", "if ends > now and (", "if ends >= now and ("));
        faults.add(new Fault(
                fixed, "no cut of a long window", "if ends <= latest then return count", "if true then return count"));
        faults.add(new Fault(
                fixed,
                "no cut by a call that is charged",
                "if count == 0 or ends > latest then",
                "if count == 0 then"));
        faults.add(new Fault(
                fixed,
                "a look that cuts",
                "limit, _, _, _, count, ends)\n  local left = count > 0 and ends - now or 0",
                "limit, p, _, _, count, ends)\n  local left = count > 0 and math.min(ends - now, p) or 0"));
        faults.add(new Fault(
                fixed, "a window that each call moves", "if count == 0 or ends > latest then", "if true then"));
        faults.add(new Fault(
                fixed,
                "denied calls are counted",
                "  if g then\n",
                "  g, h, i, j, k, l = g or a, h or b, i or c, j or d, k or e, l or f\n  if true then\n"));
        faults.add(new Fault(
                fixed, "a calendar that is not looked at", "if options and options ~= '' then", "if false then"));
        faults.add(new Fault(fixed, "the second turn", "if turn <= now then turn", "if true then turn"));
        faults.add(new Fault(fixed, "a turn a microsecond late", "latest = now + 1 +", "latest = now + 2 +"));

        faults.add(new Fault(fixed, "a refund that cuts nothing", "math.min(ends, latest), stored", "ends, stored"));
        faults.add(new Fault(fixed, "a refund of the next window", "or ends ~= stamp then", "then"));
        faults.add(new Fault(fixed, "a lost time to live", "'PX', math.ceil((ends - now) / 1000)", "'KEEPTTL'"));
        faults.add(new Fault(fixed, "a look that writes", "if take then a, b", "if true then a, b"));
        faults.add(new Fault(fixed, "no never", "n > limit and -1 or left", "left"));
        for (Algorithm log : List.of(Algorithm.SLIDING_LIST, Algorithm.SLIDING_ZSET)) {
            faults.add(new Fault(log, "< for <= at the limit", "if len + n > limit then", "if len + n >= limit then"));
            faults.add(new Fault(log, "the wrong timestamp for retry", "now, over - 1, first", "now, over, first"));
            faults.add(new Fault(
                    log, "next of the oldest although the limit was lowered", "len > limit and len - limit or 0", "0"));
            faults.add(new Fault(log, "a refund of what has expired", "if stamp <= now - period", "if false"));
            faults.add(new Fault(
                    log, "a lost time to live", "redis.call('PEXPIRE', key, math", "redis.call('ECHO', math"));
            faults.add(new Fault(log, "no never", "n > limit and -1", "false"));
            faults.add(new Fault(log, "a look that writes", "if take then a, b", "if true then a, b"));
            faults.add(new Fault(
                    log,
                    "denied calls are counted",
                    "  if g then\n",
                    "  g, h, i, j, k, l = g or a, h or b, i or c, j or d, k or e, l or f\n  if true then\n"));
        }
        Algorithm list = Algorithm.SLIDING_LIST;
        faults.add(
                new Fault(list, "a window closed at its beginning", "if stamp > time then", "if stamp >= time then"));
        faults.add(new Fault(list, "an expired head that counts", "if head > cut then", "if head >= cut then"));
        faults.add(new Fault(
                list,
                "a log cleared by a clock that steps back",
                "keep, add = later, add + keep - later",
                "keep = later"));
        faults.add(
                new Fault(list, "timestamps of the future kept", "if logged > 0 and tail > now then", "if false then"));
        faults.add(new Fault(
                list,
                "timestamps of the future counted as such",
                "return written and stamp > now and now or stamp",
                "return stamp"));
        faults.add(new Fault(list, "a trim that takes one more", "key, first, keep - 1", "key, first + 1, keep - 1"));
        Algorithm zset = Algorithm.SLIDING_ZSET;
        faults.add(new Fault(
                zset, "a window closed at its beginning", "now - period + 1, '+inf'", "now - period, '+inf'"));
        faults.add(new Fault(
                zset,
                "names start anew at each call",
                "missing = missing - add('NX', members)",
                "add('NX', members) missing = 0"));
        faults.add(new Fault(
                zset,
                "a repeated call is charged",
                "  if repeated then\n    return settle",
                "  if repeated then\n    rewrite(key, now, period, id, first, logged, n)\n    return settle"));
        faults.add(new Fault(
                zset,
                "a repeated call is denied when the log is full",
                "if repeated then return len,",
                "if repeated and len + n <= limit then return len,"));
        faults.add(
                new Fault(zset, "an expired id is known", "if score and score > now - period then", "if score then"));
        faults.add(new Fault(
                zset, "an id is not known", "id .. ':1') or '')\n    if score", "id .. ':0') or '')\n    if score"));
        faults.add(new Fault(zset, "timestamps of the future kept", "if #later > 0 then", "if false then"));
        faults.add(new Fault(zset, "a refund takes others' permits", "if #gone < n and string.find", "if string.find"));
        faults.add(new Fault(
                zset, "a refund takes a call with an id", "and string.find(member, '^:%d+%-%d+$') then", "then"));
        faults.add(new Fault(
                zset, "expired members stay", "if first > 0 then first = drop(", "if false then first = drop("));
        Algorithm bucket = Algorithm.TOKEN_BUCKET;
        faults.add(new Fault(bucket, "> for >= at the cost", "credit < n * parts then", "credit <= n * parts then"));
        faults.add(new Fault(
                bucket,
                "floor for ceil",
                "math.ceil((wanted - credit) / rate)",
                "math.floor((wanted - credit) / rate)"));
        faults.add(new Fault(
                bucket,
                "ceil for floor",
                "local whole, full = math.floor(credit / parts)",
                "local whole, full = math.ceil(credit / parts)"));
        faults.add(new Fault(bucket, "a lost gcd", "while b > 0 do a, b = b, a % b end", "a = 1"));
        faults.add(new Fault(
                bucket,
                "credit for time that steps back",
                "if now <= from then return credit",
                "if false then return credit"));
        faults.add(new Fault(
                bucket,
                "a timestamp that steps back with the clock",
                "if now <= from then return credit, from",
                "if now <= from then return credit, now"));
        faults.add(new Fault(
                bucket, "a timestamp that never returns", "from > now + period and now + period or from", "from"));
        faults.add(new Fault(
                bucket, "the new rate for time before it", "math.min(most, base + elapsed", "(base + elapsed"));
        faults.add(new Fault(
                bucket,
                "the old rate for time before it",
                "elapsed < filled and time < full_at and math.min(most, base + elapsed * rate) or most",
                "most"));
        faults.add(new Fault(
                bucket,
                "parts carried over as they are",
                "other = burst * parts, stored_parts ~= parts or stored_rate ~= rate",
                "other = burst * parts, false"));
        faults.add(new Fault(
                bucket,
                "only whole permits carried over",
                "+ (scaled(stored - whole * stored_parts, parts, stored_parts))",
                ""));
        faults.add(new Fault(
                bucket,
                "a raised burst that is full when the old one was",
                "if other or full_at < from + filled then",
                "if other then"));
        faults.add(new Fault(bucket, "a denial that keeps the old limit", "if not pending and from <=", "if from <="));
        faults.add(new Fault(bucket, "times of one rate while two decide", "pending and pending.time(wanted) or", ""));
        faults.add(
                new Fault(bucket, "a wait beyond the state's end", "math.min(from + wait, full_at)", "(from + wait)"));
        faults.add(new Fault(bucket, "a stale bucket that is not full", "if now >= full_at then", "if false then"));
        faults.add(new Fault(
                bucket, "a refund that mints what has refilled", "credit + taken - elapsed * rate", "credit + taken"));
        faults.add(new Fault(
                bucket,
                "a refund under another limit",
                "credit == full or pending and pending.other",
                "credit == full"));
        faults.add(new Fault(bucket, "no never", "n > burst and -1 or not", "not"));
        faults.add(new Fault(bucket, "a lost time to live", "'PX', math.ceil((full_at - now) / 1000)", "'KEEPTTL'"));
        faults.add(new Fault(bucket, "a look that writes", "if take then a, b", "if true then a, b"));
        faults.add(new Fault(
                bucket,
                "denied calls are counted",
                "  if g then\n",
                "  g, h, i, j, k, l = g or a, h or b, i or c, j or d, k or e, l or f\n  if true then\n"));
        Algorithm distinct = Algorithm.DISTINCT;
        faults.add(new Fault(distinct, "one member too many", "count >= limit then", "count > limit then"));
        faults.add(new Fault(distinct, "one member too few", "count >= limit then", "count + 1 >= limit then"));
        faults.add(new Fault(distinct, "a window that is open at its end", "ends <= now then", "ends < now then"));
        faults.add(new Fault(
                distinct, "the window's end is a member", "redis.call('ZCARD', key) - 1", "redis.call('ZCARD', key)"));
        faults.add(new Fault(
                distinct,
                "a known member is charged",
                "return count, cut(now, period, count, ends), added",
                "return count + 1, cut(now, period, count, ends), added"));
        faults.add(new Fault(distinct, "a known member is denied", "if added and options", "if false and options"));
        faults.add(new Fault(distinct, "a repeat is never denied", "options ~= 'repeat=deny'", "true"));
        faults.add(new Fault(
                distinct,
                "a known member is denied when there is no room",
                "if added and options",
                "if added and count < limit and options"));
        faults.add(new Fault(distinct, "a repeat that is stamped", "added, stored, 0 end", "added, stored, added end"));
        faults.add(new Fault(
                distinct, "a repeat that renews its member", "added, stored, 0 end", "added, stored, now end"));
        faults.add(new Fault(
                distinct,
                "a member that was used again is removed",
                "elseif added and added > 0 then",
                "elseif false then"));
        faults.add(new Fault(
                distinct, "a member of the last window is known", "if stored == 0 then forget_all(key) end", ""));
        faults.add(new Fault(
                distinct,
                "no cut of a long window",
                "if ends <= now + period then return count",
                "if true then return count"));
        faults.add(new Fault(
                distinct,
                "no cut by a call that is charged",
                "if count == 0 or ends > now + period then",
                "if count == 0 then"));
        faults.add(new Fault(
                distinct,
                "a window that each call moves",
                "if count == 0 or ends > now + period then",
                "if true then"));
        faults.add(new Fault(
                distinct,
                "a refund of another call",
                "stamp == 0 or added ~= stamp then",
                "stamp == 0 or not added then"));
        faults.add(new Fault(distinct, "a refund that leaves its member", "redis.call('ZREM', key, member)", ""));
        faults.add(new Fault(
                distinct, "a lost time to live", "redis.call('PEXPIRE', key, math", "redis.call('ECHO', math"));
        faults.add(new Fault(distinct, "a look that writes", "if take then a, b", "if true then a, b"));
        faults.add(new Fault(
                distinct,
                "denied calls are counted",
                "  if g then\n",
                "  g, h, i, j, k, l = g or a, h or now + period, i, j or d, k or now, l\n  if true then\n"));
        faults.add(new Fault(
                distinct,
                "members are numbers",
                "redis.call('ZSCORE', key, member)",
                "redis.call('ZSCORE', key, tonumber(member) or member)"));
        Algorithm stock = Algorithm.ALLOTMENT;
        for (String[] fault : new String[][] {
            {
                "one more than the stock",
                "s.kept + s.held + c.n > c.limit then",
                "s.kept + s.held + c.n > c.limit + 1 then"
            },
            {"one more for each", "if s.had + c.n > c.burst then", "if s.had + c.n > c.burst + 1 then"},
            {"no quantity", "if c.n > c.burst or s.known > 0 then return QUANTITY end", ""},
            {"another quantity is a repetition", "return s.known == c.n or", "return s.known > 0 or"},
            {"sold when it closes", "if c.now >= s.closes then", "if c.now > s.closes then"},
            {"opens too late", "return c.now < s.opens", "return c.now <= s.opens"},
            {"an owner reads sold out", "then return ALREADY_HAD end", "then return SOLD_OUT end"},
            {"a repeated purchase is charged", "  if s.known == 0 then\n", "  if true then\n"},
            {"an id of another member", "return 'r' .. member .. ' ' .. request", "return 'r' .. request"},
            {
                "members are numbers",
                "get(c, s, 'm' .. c.id)) or 0) + #stamps",
                "get(c, s, 'm' .. (tonumber(c.id) or c.id))) or 0) + #stamps"
            },
            {
                "a hold that lasts too long",
                "tonumber(stamp) <= s.since then return nil",
                "tonumber(stamp) < s.since then return nil"
            },
            {"run out a moment too early", "'-inf', text(s.since))", "'-inf', text(s.since + 1))"},
            {"what has run out counts", "s.gone = redis.call('ZCOUNT', c.records, '-inf', text(s.since))", "s.gone = 0"
            },
            {"a member's holds never run out", "#stamps / 8 - until_time(stamps, s.since)", "#stamps / 8"},
            {"a confirmed purchase is returned", "(keeps or one.kind ~= 'paid')", "true"},
            {
                "a confirmation that runs out",
                "put(s, name, 'paid' .. string.sub(get(c, s, name), 5))",
                "put(s, name, get(c, s, name))"
            },
            {"a confirmed permit stays on hold", "    redis.call('ZREMRANGEBYSCORE', c.records, name, name)\n", ""},
            {"a returned permit stays with its member", "8 * (before + one.n) + 1)", "8 * before + 1)"},
            {"two purchases of one timestamp", "math.max(c.now, s.newest + 1)", "c.now"},
            {
                "a state that is kept too short",
                "  s.ends = math.max(s.ends, s.closes + DAY)\n  local set",
                "  s.ends = s.closes + DAY\n  local set"
            },
            {"a lost time to live", "redis.call('PEXPIRE', c.key, life)", "redis.call('ECHO', life)"},
            {
                "a lost time to live of what is on hold",
                "redis.call('PEXPIRE', c.records, life)",
                "redis.call('ECHO', life)"
            },
            {"one permit at a time", "2251799813685248, '50'", "2251799813685248, '1'"},
            {"more is forgotten than a call may", "2251799813685248, '50'", "2251799813685248, '51'"},
            {"a forgotten permit stays with its member", "8 * gone + 1))", "1))"},
            {"a purchase that is only half forgotten", "  put(s, stamp, '')\n", ""},
            {"what was there before is counted on", "    redis.call('UNLINK', c.key, c.records)\n", ""},
            {"told of a hold above the limit", "'+inf', over)", "'+inf', 0)"},
            {
                "told of the first hold instead of the last",
                "'ZREVRANGEBYSCORE', '+inf', after, 0)",
                "'ZRANGEBYSCORE', after, '+inf', 0)"
            }
        }) {
            faults.add(new Fault(stock, fault[0], fault[1], fault[2]));
        }
        for (Algorithm algorithm : AnyAlgorithm.limits()) {
            faults.add(
                    new Fault(algorithm, "a denial that notes no step back", "elseif take then", "elseif false then"));
        }
        Algorithm block = Algorithm.BLOCK;
        faults.add(new Fault(block, "one denial too many", "if count >= limit then", "if count > limit then"));
        faults.add(new Fault(
                block, "a block that each denial begins anew", "denied > 0 and blocked <= now", "denied > 0"));
        faults.add(new Fault(
                block,
                "denials count during the block",
                "  if denied > 0 and blocked <= now then",
                "  if denied > 0 and blocked > now then\n    if count == 0 or ends <= now then count, ends = 0, now + period end\n"
                        + "    count, changed = count + denied, true\n  elseif denied > 0 then"));
        faults.add(new Fault(block, "no doubling", "forget > now and 2 * length or 0", "0"));
        faults.add(new Fault(block, "a length that is never forgotten", "forget > now and 2 * length", "2 * length"));
        faults.add(
                new Fault(block, "no longest block", "math.min(longest, math.max(first", "math.max(0, math.max(first"));
        faults.add(new Fault(
                block, "a window that moves", "if count == 0 or ends <= now then count", "if true then count"));
        faults.add(new Fault(block, "a window without an end", "count == 0 or ends <= now", "count == 0"));
        faults.add(new Fault(block, "no cut of a long block", "if blocked > latest then", "if false then"));
        faults.add(new Fault(block, "no cut of a long window", "if ends > now + period then", "if false then"));
        faults.add(new Fault(
                block,
                "denials count after the block",
                "count, blocked, forget = 0, now",
                "count, blocked, forget = count, now"));
        faults.add(new Fault(
                block,
                "a block is open at its end",
                "if blocked > now then return nil",
                "if blocked >= now then return nil"));
        faults.add(new Fault(block, "a lost time to live", ", 'PX', math.ceil(left / 1000))", ")"));
        faults.add(new Fault(
                block,
                "allowed calls are counted",
                "local raw, denied = redis.call('GET', key), 0",
                "local raw, denied = redis.call('GET', key), n"));
        return faults;
    }
}
