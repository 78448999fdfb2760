package io.limiter.example.fair.notices;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * The queue of voters who log in: what a login costs is paid by workers at their own speed, so a rush of logins makes the queue longer and
 * nothing slower. A voter is in it once. A worker takes voters for a lease and removes them when it is done; those of a worker that died are
 * taken again, first. By Redis' clock. Thread-safe; all instances share one queue.
 */
public final class Logins {
    /** A voter, and until when its worker has it; that is also the proof that it is this worker which is done. */
    public record Login(String voter, String lease) {}

    private static final String NOW = """
            local time = redis.call('TIME')
            local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
            """;

    /** KEYS waiting, taken. ARGV voters. A voter that waits keeps its place. */
    private static final String ENTER = NOW + """
            for i = 1, #ARGV do
              if not redis.call('ZSCORE', KEYS[2], ARGV[i]) then redis.call('ZADD', KEYS[1], 'NX', now, ARGV[i]) end
            end
            """;

    /** KEYS waiting, taken. ARGV most, lease in ms. Leases that have ended come first. */
    private static final String TAKE = NOW + """
            local lease = string.format('%.0f', now + ARGV[2])
            local voters = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, ARGV[1])
            for _, voter in ipairs(redis.call('ZRANGE', KEYS[1], 0, ARGV[1] - #voters - 1)) do
              if #voters < tonumber(ARGV[1]) then table.insert(voters, voter) end
            end
            for _, voter in ipairs(voters) do
              redis.call('ZREM', KEYS[1], voter)
              redis.call('ZADD', KEYS[2], lease, voter)
            end
            return {lease, voters}
            """;

    /** KEYS taken. ARGV voter, lease. */
    private static final String DONE = """
            local lease = redis.call('ZSCORE', KEYS[1], ARGV[1])
            if lease and tonumber(lease) == tonumber(ARGV[2]) then return redis.call('ZREM', KEYS[1], ARGV[1]) end
            return 0
            """;

    private static final String WAITING = "fair:{notices}:logins";
    private static final String TAKEN = "fair:{notices}:logins:taken";

    private final RedissonClient redisson;
    private final RScript script;
    private final long leaseMillis;

    /** @param lease how long a worker has the voters that it takes; longer than it needs */
    public Logins(RedissonClient redisson, Duration lease) {
        this.redisson = redisson;
        this.script = redisson.getScript(StringCodec.INSTANCE);
        this.leaseMillis = lease.toMillis();
    }

    /** Voters log in, some thousands at most. */
    public void enter(Collection<String> voters) {
        script.eval(Mode.READ_WRITE, ENTER, ReturnType.VALUE, List.of(WAITING, TAKEN), voters.toArray());
    }

    /** Takes the first voters, at most this many. */
    public List<Login> take(int most) {
        List<Object> reply =
                script.eval(Mode.READ_WRITE, TAKE, ReturnType.LIST, List.of(WAITING, TAKEN), most, leaseMillis);
        List<Login> taken = new ArrayList<>();
        for (Object voter : (List<?>) reply.get(1)) {
            taken.add(new Login(String.valueOf(voter), String.valueOf(reply.get(0))));
        }
        return taken;
    }

    /** What the login costs has been paid. Returns false if the lease had ended and another worker has the voter. */
    public boolean done(Login login) {
        return script.<Long>eval(Mode.READ_WRITE, DONE, ReturnType.LONG, List.of(TAKEN), login.voter(), login.lease())
                == 1;
    }

    /** How many wait, those included that a worker has. */
    public int size() {
        return redisson.getScoredSortedSet(WAITING).size()
                + redisson.getScoredSortedSet(TAKEN).size();
    }
}
