package io.limiter.inprocess;

import io.limiter.Algorithm;
import io.limiter.PartitionKey;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The states of one limit: one for each key that has its own, and those that keys share. A policy or a limit of another
 * name, or another algorithm, is another room.
 */
final class Room {
    final ConcurrentHashMap<PartitionKey, State> states = new ConcurrentHashMap<>();
    private final Algorithm algorithm;
    private final StampBudget budget;
    private final StampBudget sharedBudget;
    private volatile @Nullable Overflow overflow;

    /** A room whose logs take their stamps from one budget, and those of its shared states from another. */
    Room(Algorithm algorithm, StampBudget budget, StampBudget sharedBudget) {
        this.algorithm = algorithm;
        this.budget = budget;
        this.sharedBudget = sharedBudget;
    }

    /** A state of a key's own, not yet in the room. */
    State newState(PartitionKey key) {
        return switch (algorithm) {
            case FIXED_WINDOW -> new FixedWindowState(this, key);
            case SLIDING_LIST, SLIDING_ZSET -> new SlidingLogState(this, key, budget);
            case TOKEN_BUCKET -> new TokenBucketState(this, key);
        };
    }

    /** A state that took nothing and belongs to nobody: to share, or to answer a call that changes nothing. */
    State blank() {
        return switch (algorithm) {
            case FIXED_WINDOW -> new FixedWindowState(null, null);
            case SLIDING_LIST, SLIDING_ZSET -> new SlidingLogState(null, null, sharedBudget);
            case TOKEN_BUCKET -> new TokenBucketState(null, null);
        };
    }

    /** The shared states; null while no key ever came to a full table. */
    @Nullable
    Overflow overflow() {
        return overflow;
    }

    /** The shared states, made if need be. Called under the table's lock. */
    Overflow openOverflow() {
        Overflow open = overflow;
        if (open == null) {
            open = new Overflow(this::blank);
            overflow = open;
        }
        return open;
    }
}
