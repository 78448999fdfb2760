package io.limiter.example.fair.codes;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.redisson.api.RBloomFilter;
import org.redisson.api.RMap;
import org.redisson.api.RScript;
import org.redisson.api.RScript.Mode;
import org.redisson.api.RScript.ReturnType;
import org.redisson.api.RSet;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Voting codes. Each counts once. Thread-safe; all instances share what is in Redis.
 *
 * <p>The Bloom filter answers most guesses with "certainly never issued". What it admits is looked up in the set
 * of issued codes, because a filter may take a code for an issued one. The script that does so writes the candidate
 * under the code if nothing is there: the code is used up and the vote is counted in the same step.
 *
 * <p>A filter pays when the full check is expensive, a query of a database say. Here the check is a set in the same
 * Redis, and the filter shows how the two fit together.
 */
public final class VotingCodes {
    /** What became of a vote. */
    public enum Outcome {
        /** The vote counts. */
        COUNTED,
        /** An earlier vote used the code. */
        ALREADY_USED,
        /** The filter knows that the code was never issued. */
        NEVER_ISSUED,
        /** The filter took the code for an issued one; the full check did not. */
        FALSE_POSITIVE
    }

    /** KEYS issued. ARGV most, codes. All of the codes or none; returns how many more there was room for. */
    private static final String ISSUE = """
            local room = ARGV[1] - redis.call('SCARD', KEYS[1])
            local added = {}
            for i = 2, #ARGV do
              if redis.call('SISMEMBER', KEYS[1], ARGV[i]) == 0 then added[ARGV[i]] = true end
            end
            local count = 0
            for _ in pairs(added) do count = count + 1 end
            if count <= room then
              for code in pairs(added) do redis.call('SADD', KEYS[1], code) end
            end
            return {count, room}
            """;

    /** KEYS issued, votes. ARGV code, candidate. */
    private static final String VOTE = """
            if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 0 then return -1 end
            return redis.call('HSETNX', KEYS[2], ARGV[1], ARGV[2])
            """;

    private static final String FILTER = "fair:{codes}:filter";
    private static final String ISSUED = "fair:{codes}:issued";
    private static final String VOTES = "fair:{codes}:votes";

    private final RedissonClient redisson;
    private final RScript script;
    private final RBloomFilter<String> filter;
    private final RSet<String> issued;
    private final RMap<String, String> votes;

    /**
     * Codes in {@code fair:{codes}:*}.
     *
     * @param expected how many codes the filter has room for
     * @param falsePositives the share of unknown codes, 0.01 say, that a full filter takes for issued ones
     * @throws IllegalStateException if the filter in Redis was made with other numbers
     */
    public VotingCodes(RedissonClient redisson, long expected, double falsePositives) {
        this.redisson = redisson;
        this.script = redisson.getScript(StringCodec.INSTANCE);
        this.filter = redisson.getBloomFilter(FILTER, StringCodec.INSTANCE);
        this.issued = redisson.getSet(ISSUED, StringCodec.INSTANCE);
        this.votes = redisson.getMap(VOTES, StringCodec.INSTANCE);
        // Where tryInit returns false, Redisson's object goes on with these numbers, and with other ones than the
        // filter's it would look at the wrong bits: valid codes would be unknown, without an error.
        if (!filter.tryInit(expected, falsePositives)
                && (filter.getExpectedInsertions() != expected || filter.getFalseProbability() != falsePositives)) {
            throw new IllegalStateException("the filter in Redis is for " + filter.getExpectedInsertions()
                    + " codes and a share of " + filter.getFalseProbability() + ", not for " + expected + " and "
                    + falsePositives);
        }
    }

    /**
     * Makes the codes valid. Give some thousands at once: they are one script, and one batch of several commands each. Issuing a code again
     * changes nothing, so after a failure give the same codes again.
     *
     * @throws IllegalArgumentException if the filter has no room for them: a fuller filter would break its promise
     */
    public void issue(Collection<String> codes) {
        List<Object> arguments = new ArrayList<>(codes.size() + 1);
        arguments.add(filter.getExpectedInsertions());
        arguments.addAll(codes);
        // The set first, and asked for room in the same step: it alone knows how many codes the filter has, or is about
        // to have.
        List<Long> counts = script.eval(Mode.READ_WRITE, ISSUE, ReturnType.LIST, List.of(ISSUED), arguments.toArray());
        if (counts.get(0) > counts.get(1)) {
            throw new IllegalArgumentException(
                    "there is room for " + counts.get(1) + " more codes, not for " + counts.get(0));
        }
        if (!codes.isEmpty()) {
            filter.add(codes);
        }
    }

    /** Votes with a code. */
    public Outcome vote(String code, String candidate) {
        if (!filter.contains(code)) {
            return Outcome.NEVER_ISSUED;
        }
        long counted =
                script.<Long>eval(Mode.READ_WRITE, VOTE, ReturnType.LONG, List.of(ISSUED, VOTES), code, candidate);
        return counted < 0 ? Outcome.FALSE_POSITIVE : counted == 1 ? Outcome.COUNTED : Outcome.ALREADY_USED;
    }

    /** Those of the codes that the filter passes on to the full check. */
    public Set<String> passing(Collection<String> codes) {
        return filter.exists(codes);
    }

    /** The votes of each candidate. It reads all votes. */
    public Map<String, Long> tally() {
        Map<String, Long> tally = new TreeMap<>();
        votes.readAllValues().forEach(candidate -> tally.merge(candidate, 1L, Long::sum));
        return tally;
    }

    /** Forgets all codes and votes, in one command. The filter's numbers stay: without them nobody could vote until the next start. */
    public void clear() {
        redisson.getKeys().delete(FILTER, ISSUED, VOTES);
    }

    /** The number of valid codes, used ones too. */
    public int size() {
        return issued.size();
    }

    /** The number of bits that the filter has. */
    public long bits() {
        return filter.getSize();
    }

    /** How many bits the filter looks at for a code. */
    public int hashes() {
        return filter.getHashIterations();
    }

    /** The promised share of false positives in a full filter. */
    public double promised() {
        return filter.getFalseProbability();
    }
}
