package io.limiter.inprocess;

import io.limiter.Algorithm;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A limit that keys have states of. In the table while there are any; after its last one it is never used again. Thread-safe. */
final class LimitStates {
    /** Which limit: another policy, identity or algorithm has other states. */
    record Name(String policy, String limit, Algorithm algorithm) {
        static Name of(Charge charge, Limit limit) {
            return new Name(charge.policy().name(), limit.identity(), limit.algorithm());
        }

        // Not those of a record: a JVM that has just started makes thousands of new keys with them, in its interpreter.
        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof Name that
                    && algorithm == that.algorithm
                    && limit.equals(that.limit)
                    && policy.equals(that.policy);
        }

        @Override
        public int hashCode() {
            return policy.hashCode() * 31 + limit.hashCode();
        }
    }

    private static final int GONE = -1;

    private final Name name;
    private final MemoryShare share;
    private final int hash;
    private final AtomicInteger states = new AtomicInteger();

    /**
     * A limit without states.
     *
     * @param share where each state takes its entry from; the one with which the limit began, also when its policy is
     *     announced later
     */
    LimitStates(Name name, MemoryShare share) {
        this.name = name;
        this.share = share;
        this.hash = hash(name.policy());
    }

    /** Where the key's state is in the table. */
    int hash(PartitionKey key) {
        return hash(hash, key);
    }

    /** What the name of a policy adds to the hashes of its keys. */
    static int hash(String policy) {
        return policy.hashCode() * 0x85EBCA6B;
    }

    /** The hash of a key in the states of a policy. All limits of it have the same, so their states for a key are neighbours. */
    static int hash(int ofPolicy, PartitionKey key) {
        int hash = ofPolicy ^ key.hashCode();
        return hash ^ hash >>> 16;
    }

    Name name() {
        return name;
    }

    MemoryShare share() {
        return share;
    }

    /** Whether the last state has left, so that other ones must be found. */
    boolean isGone() {
        return states.get() == GONE;
    }

    /** Counts a new state; false where the last one has left. */
    boolean enter() {
        int count = states.get();
        while (count != GONE && !states.compareAndSet(count, count + 1)) {
            count = states.get();
        }
        return count != GONE;
    }

    /** Counts a state that was dropped; true when it was the last one. */
    boolean leave() {
        return states.decrementAndGet() == 0 && states.compareAndSet(0, GONE);
    }
}
