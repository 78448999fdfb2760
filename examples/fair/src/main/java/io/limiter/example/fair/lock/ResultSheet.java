package io.limiter.example.fair.lock;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.redisson.api.RList;
import org.redisson.api.RMap;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * What the lock protects: the result of the vote. It checks the fencing tokens itself, in the script that writes: a write is refused if
 * any of its tokens is older than one that the same lock server gave to an accepted write. So a holder that was paused longer than its
 * lock cannot overwrite what the next holder wrote. Thread-safe.
 */
public final class ResultSheet {
    /** KEYS sheet, log. ARGV by, result, then server, token, server, token, ... */
    private static final String WRITE = """
            local tokens = ''
            local accepted = 1
            for i = 3, #ARGV, 2 do
              tokens = tokens .. ' ' .. ARGV[i] .. '=' .. ARGV[i + 1]
              local seen = redis.call('HGET', KEYS[1], 'token:' .. ARGV[i])
              if seen and tonumber(ARGV[i + 1]) < tonumber(seen) then accepted = 0 end
            end
            if accepted == 1 then
              for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[1], 'token:' .. ARGV[i], ARGV[i + 1]) end
              redis.call('HSET', KEYS[1], 'by', ARGV[1], 'result', ARGV[2])
            end
            local what = accepted == 1 and 'accepted' or 'REFUSED'
            redis.call('LPUSH', KEYS[2], what .. ' from ' .. ARGV[1] .. ', token' .. tokens .. ': ' .. ARGV[2])
            redis.call('LTRIM', KEYS[2], 0, 19)
            return accepted
            """;

    static final String SHEET = "fair:{lock}:result";
    static final String LOG = "fair:{lock}:writes";

    private final RScript script;
    private final RMap<String, String> sheet;
    private final RList<String> log;

    /** The sheet in {@code fair:{lock}:*}. */
    public ResultSheet(RedissonClient redisson) {
        this(redisson, "lock");
    }

    /** The sheet in {@code fair:{<system>}:*}. */
    public ResultSheet(RedissonClient redisson, String system) {
        this.script = redisson.getScript(StringCodec.INSTANCE);
        this.sheet = redisson.getMap("fair:{" + system + "}:result", StringCodec.INSTANCE);
        this.log = redisson.getList("fair:{" + system + "}:writes", StringCodec.INSTANCE);
    }

    /** The last accepted result; empty if there is none. */
    public String result() {
        return sheet.getOrDefault("result", "");
    }

    /** The last writes, the newest first, each with what became of it. */
    public List<String> writes() {
        return log.range(11);
    }

    /**
     * Writes a result if its tokens are not outdated; returns whether it was written.
     *
     * @param tokens the token of each lock server that the writer has locked; of one server where the lock is on one
     */
    public boolean write(String by, String result, Map<String, Long> tokens) {
        if (tokens.isEmpty()) {
            throw new IllegalArgumentException("no token; lock first, and send the token that the lock returned");
        }
        List<Object> arguments = new ArrayList<>(List.of(by, result));
        tokens.forEach((server, token) -> {
            arguments.add(server);
            arguments.add(token);
        });
        List<Object> keys = List.of(sheet.getName(), log.getName());
        return script.<Long>eval(Mode.READ_WRITE, WRITE, ReturnType.LONG, keys, arguments.toArray()) == 1;
    }
}
