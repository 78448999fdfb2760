package io.limiter.redis;

import io.limiter.internal.Algorithm;
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
        List<Fault> faults = new ArrayList<>(PlantedRateFaults.faults().toList());
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
                "s.had = tonumber(get(c, s, 'm' .. c.id))",
                "s.had = tonumber(get(c, s, 'm' .. (tonumber(c.id) or c.id)))"
            },
            {
                "a hold that lasts too long",
                "tonumber(stamp) < s.alive then return nil",
                "tonumber(stamp) < s.alive - 1 then return nil"
            },
            {"run out a moment too early", "c.now - c.period + 1,", "c.now - c.period + 2,"},
            {
                "what has run out counts",
                "s.gone = redis.call('ZLEXCOUNT', c.records, '[t', '(t' .. digits(s.alive))",
                "s.gone = 0"
            },
            {
                "a member's holds never run out",
                "'[m' .. c.id .. ' ' .. digits(s.alive), '(m'",
                "'[m' .. c.id .. ' ', '(m'"
            },
            {"what other members have on hold", "'(m' .. c.id .. '!')", "'(n')"},
            {"a confirmed purchase is returned", "(keeps or one.kind ~= 'paid')", "true"},
            {
                "a confirmation that runs out",
                "put(s, name, 'paid' .. string.sub(get(c, s, name), 5))",
                "put(s, name, get(c, s, name))"
            },
            {
                "a confirmed permit stays on hold",
                "    redis.call('ZREMRANGEBYLEX', c.records, '[' .. by_time, '(' .. by_time .. ';')\n",
                ""
            },
            {
                "a returned permit stays with its member",
                "    redis.call('ZREMRANGEBYLEX', c.records, '[' .. by_member, '(' .. by_member .. ';')\n",
                ""
            },
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
            {"one permit at a time", "'0', '50')", "'0', '1')"},
            {"more is forgotten than a call may", "'0', '50')", "'0', '51')"},
            {
                "a forgotten permit stays with its member",
                "permits[#permits + 1] = 'm' .. member",
                "permits[#permits + 1] = 'n' .. member"
            },
            {"a purchase that is only half forgotten", "  put(s, stamp, '')\n", ""},
            {"what was there before is counted on", "    redis.call('UNLINK', c.key, c.records)\n", ""},
            {"told of a hold above the limit", "from, '(u', over)", "from, '(u', 0)"},
            {
                "told of the first hold instead of the last",
                "'ZREVRANGEBYLEX', '(u', from, 0)",
                "'ZRANGEBYLEX', from, '(u', 0)"
            }
        }) {
            faults.add(new Fault(stock, fault[0], fault[1], fault[2]));
        }
        return faults;
    }
}
