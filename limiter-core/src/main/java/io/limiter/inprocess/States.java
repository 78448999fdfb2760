package io.limiter.inprocess;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.internal.Algorithm;

/** The state class of each algorithm. */
final class States {
    private States() {}

    /**
     * A state that took nothing.
     *
     * @param clock for calendar windows
     * @param stamps where a log takes memory for its timestamps, or a state for its members; {@link Capacity#UNLIMITED} for one that takes nothing
     */
    static State of(Algorithm algorithm, PartitionKey key, WallClock clock, Capacity.Share stamps) {
        return switch (algorithm) {
            case FIXED_WINDOW -> new FixedWindowState(key, clock);
            case SLIDING_LIST, SLIDING_ZSET -> new SlidingLogState(key, stamps);
            case TOKEN_BUCKET -> new TokenBucketState(key);
            case DISTINCT -> new DistinctState(key, stamps);
            case BLOCK -> new BlockState(key);
            case ALLOTMENT -> new AllotmentState(key, clock, stamps);
            case CONCURRENT -> new ConcurrentState(key);
        };
    }

    /** The number of timestamps for which a new state needs memory. */
    static long firstStamps(long permits, Limit limit) {
        return switch (limit.algorithm()) {
            case FIXED_WINDOW, TOKEN_BUCKET, BLOCK, CONCURRENT -> 0;
            case SLIDING_LIST, SLIDING_ZSET -> SlidingLogState.firstStamps(permits, limit);
            case DISTINCT -> DistinctState.STAMPS_A_MEMBER;
            case ALLOTMENT -> AllotmentState.STAMPS_A_PURCHASE;
        };
    }
}
