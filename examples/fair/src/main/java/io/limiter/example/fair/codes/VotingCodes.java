package io.limiter.example.fair.codes;

import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.redisson.api.RBloomFilter;
import org.redisson.api.RMap;
import org.redisson.api.RSet;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

/**
 * Voting codes. Each counts once. Thread-safe; all instances share what is in Redis.
 *
 * <p>The Bloom filter answers most guesses with "certainly never issued". What it admits is looked up in the set
 * of issued codes, because a filter may take a code for an issued one. A vote is then one command, which writes the
 * candidate under the code if nothing is there: the code is used up and the vote is counted in the same step.
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

    private final RBloomFilter<String> filter;
    private final RSet<String> issued;
    private final RMap<String, String> votes;
    private final long expected;
    private final double falsePositives;

    /**
     * Codes in {@code fair:{codes}:*}.
     *
     * @param expected how many codes the filter has room for
     * @param falsePositives the share of unknown codes, 0.01 say, that a full filter takes for issued ones
     * @throws IllegalStateException if the filter in Redis was made with other numbers
     */
    public VotingCodes(RedissonClient redisson, long expected, double falsePositives) {
        this.filter = redisson.getBloomFilter("fair:{codes}:filter", StringCodec.INSTANCE);
        this.issued = redisson.getSet("fair:{codes}:issued", StringCodec.INSTANCE);
        this.votes = redisson.getMap("fair:{codes}:votes", StringCodec.INSTANCE);
        this.expected = expected;
        this.falsePositives = falsePositives;
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
     * Makes the codes valid. Give some thousands at once: they are one batch, of several commands each.
     *
     * @throws IllegalArgumentException if the filter has no room for them: a fuller filter would break its promise
     */
    public void issue(Collection<String> codes) {
        long room = filter.getExpectedInsertions() - issued.size();
        if (codes.size() > room) {
            throw new IllegalArgumentException("there is room for " + room + " more codes, not for " + codes.size());
        }
        // The set first: a code that the filter passes but the set does not have would be refused.
        issued.addAll(codes);
        filter.add(codes);
    }

    /** Votes with a code. */
    public Outcome vote(String code, String candidate) {
        if (!filter.contains(code)) {
            return Outcome.NEVER_ISSUED;
        }
        if (!issued.contains(code)) {
            return Outcome.FALSE_POSITIVE;
        }
        return votes.fastPutIfAbsent(code, candidate) ? Outcome.COUNTED : Outcome.ALREADY_USED;
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

    /** Forgets all codes and votes. */
    public void clear() {
        filter.delete();
        issued.delete();
        votes.delete();
        filter.tryInit(expected, falsePositives);
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
