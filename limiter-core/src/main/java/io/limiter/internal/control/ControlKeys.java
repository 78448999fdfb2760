package io.limiter.internal.control;

import java.util.List;

/**
 * The keys of a group in Redis, all in one slot of a cluster, and the scripts that change them. Only publishers may write below
 * {@code limiter-control}; the reports of instances are elsewhere, and no instance reads them.
 */
public record ControlKeys(String group) {
    /** The largest text that is published or taken, in bytes. */
    public static final int MOST_BYTES = 262_144;

    /** What the record of a text has besides it, at most. */
    public static final int RECORD_BYTES = 2_000;

    /** How many overrides and switches may be in force. */
    public static final int MOST_DIRECTIVES = 10_000;

    /** So many of them are left for switches, so that overrides never keep an operator from one. */
    private static final int FOR_SWITCHES = 100;

    /** How many versions are kept. */
    public static final int VERSIONS = 50;

    /** How many lines of the audit are kept. */
    public static final int AUDITED = 1_000;

    /**
     * Publishes a text, or asks about one. KEYS: head, text, audit, the text that is dropped. ARGV: the head that the publisher
     * has seen, the new head, the record, the line of the audit.
     */
    public static final String PUBLISH = """
            local now = redis.call('GET', KEYS[1]) or ''
            if now ~= ARGV[1] then
              -- The answer to this command was lost, and it came again.
              if now == ARGV[2] and redis.call('GET', KEYS[2]) == ARGV[3] then return {'done'} end
              return {'other'}
            end
            redis.call('SET', KEYS[2], ARGV[3])
            redis.call('SET', KEYS[1], ARGV[2])
            if ARGV[4] ~= '' then
              redis.call('LPUSH', KEYS[3], ARGV[4])
              redis.call('LTRIM', KEYS[3], 0, %d)
              redis.call('DEL', KEYS[4])
            end
            return {'done'}
            """.formatted(AUDITED - 1);

    /**
     * Sets or removes a directive. KEYS: head, directives by revision, those in force by id, all by their end, audit. ARGV: the head
     * that the publisher has seen, the new head, the record, its id, revision and end, whether it removes, the line of the
     * audit. What has ended is dropped, two hundred at a time.
     */
    public static final String DIRECT = """
            local now = redis.call('GET', KEYS[1]) or ''
            if now ~= ARGV[1] then
              if now == ARGV[2] and redis.call('ZSCORE', KEYS[2], ARGV[3]) then return {'done'} end
              return {'other'}
            end
            for _, ended in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', ARGV[5], 'LIMIT', 0, 200)) do
              local target, key = ended:match('^[^\\t]*\\t([^\\t]*)\\t([^\\t]*)')
              redis.call('ZREM', KEYS[2], ended)
              redis.call('ZREM', KEYS[4], ended)
              if target and redis.call('HGET', KEYS[3], target .. ' ' .. key) == ended then
                redis.call('HDEL', KEYS[3], target .. ' ' .. key)
              end
            end
            local old = redis.call('HGET', KEYS[3], ARGV[4])
            local most = ARGV[4]:sub(-1) == ' ' and %d or %d
            if not old and ARGV[7] == '' and redis.call('HLEN', KEYS[3]) >= most then return {'full'} end
            if old then
              redis.call('ZREM', KEYS[2], old)
              redis.call('ZREM', KEYS[4], old)
              redis.call('HDEL', KEYS[3], ARGV[4])
            end
            if ARGV[7] == '' then redis.call('HSET', KEYS[3], ARGV[4], ARGV[3]) end
            redis.call('ZADD', KEYS[2], ARGV[5], ARGV[3])
            redis.call('ZADD', KEYS[4], ARGV[6], ARGV[3])
            redis.call('SET', KEYS[1], ARGV[2])
            redis.call('LPUSH', KEYS[5], ARGV[8])
            redis.call('LTRIM', KEYS[5], 0, %d)
            return {'done'}
            """.formatted(MOST_DIRECTIVES, MOST_DIRECTIVES - FOR_SWITCHES, AUDITED - 1);

    /** The time of Redis, and its version as a number; 0 before Redis 7. */
    public static final String TIME = """
            local t = redis.call('TIME')
            return {t[1], t[2], tostring(redis.REDIS_VERSION_NUM or 0)}
            """;

    /**
     * Writes the report of an instance, and returns what {@link #TIME} does. KEYS: reports, policies. ARGV: the instance, its
     * report, before which it writes the time in seconds, then names and limits of policies where
     * they are new: then it forgets instances that have not reported for a day.
     */
    public static final String REPORT = """
            redis.call('HSET', KEYS[1], ARGV[1], redis.call('TIME')[1] .. '\\t' .. ARGV[2])
            redis.call('PEXPIRE', KEYS[1], 86400000)
            for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
            if #ARGV > 2 then
              redis.call('PEXPIRE', KEYS[2], 604800000)
              local all = redis.call('HGETALL', KEYS[1])
              local gone = redis.call('TIME')[1] - 86400
              for i = 1, #all, 2 do
                if (tonumber(all[i + 1]:match('^%d+')) or 0) < gone then redis.call('HDEL', KEYS[1], all[i]) end
              end
            end
            """ + TIME;

    private String key(String name) {
        return "limiter-control:{" + group + "}:" + name;
    }

    /** What instances look at: the {@link Head}. */
    public String head() {
        return key("head");
    }

    /** A published text. */
    public String text(long version) {
        return key("text:" + version);
    }

    /** A text about which instances are asked. */
    public String candidate() {
        return key("candidate");
    }

    /** Directives by their revision, with those that were removed in the last day. */
    public String directives() {
        return key("directives");
    }

    /** Who changed what. */
    public String audit() {
        return key("audit");
    }

    /** A key that never exists. */
    public String unused() {
        return key("unused");
    }

    /** The reports of instances. */
    public String reports() {
        return "limiter-report:{" + group + "}:instances";
    }

    /** The limits of policies, as instances report them. */
    public String policies() {
        return "limiter-report:{" + group + "}:policies";
    }

    /** The keys of {@link #DIRECT}. */
    public List<String> directing() {
        return List.of(head(), directives(), key("directives-by-id"), key("directives-by-end"), audit());
    }

    /** Those of the directives in force, by id. */
    public String directivesById() {
        return key("directives-by-id");
    }
}
