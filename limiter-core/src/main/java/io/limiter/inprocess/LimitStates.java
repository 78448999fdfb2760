package io.limiter.inprocess;

import io.limiter.Algorithm;
import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The states of one limit, one for each key that has its own. In the table while there are any.
 *
 * @param share where each state takes its entry from; the one with which the limit began, also when its policy is
 *     announced later
 * @param <S> the states, of which this knows nothing
 */
record LimitStates<S>(Name name, MemoryShare share, ConcurrentHashMap<PartitionKey, S> byKey) {
    /** Which limit: another policy, identity or algorithm has other states. */
    record Name(String policy, String limit, Algorithm algorithm) {
        static Name of(Charge charge, Limit limit) {
            return new Name(charge.policy().name(), limit.identity(), limit.algorithm());
        }
    }
}
