package io.limiter.inprocess;

import io.limiter.Algorithm;
import io.limiter.PartitionKey;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The states of one limit: one for each key that has its own, and those that keys share which came when the table was
 * full. A policy or a limit of another name, or another algorithm, is another room.
 */
final class Room {
    /** How many states the keys without one of their own share. A power of two. */
    static final int OVERFLOW_STATES = 1024;

    final ConcurrentHashMap<PartitionKey, State> states = new ConcurrentHashMap<>();
    private final AtomicReferenceArray<@Nullable State> overflow = new AtomicReferenceArray<>(OVERFLOW_STATES);
    private final Algorithm algorithm;
    private final StampBudget budget;

    Room(Algorithm algorithm, StampBudget budget) {
        this.algorithm = algorithm;
        this.budget = budget;
    }

    /** A state of a key's own, not yet in the room. */
    State newState(PartitionKey key) {
        return switch (algorithm) {
            case FIXED_WINDOW -> new FixedWindowState(this, key);
            case SLIDING_LIST, SLIDING_ZSET -> new SlidingLogState(this, key, budget);
            case TOKEN_BUCKET -> new TokenBucketState(this, key);
        };
    }

    /** A state that took nothing and belongs to nobody, to answer a call that changes nothing. */
    State blank() {
        return switch (algorithm) {
            case FIXED_WINDOW -> new FixedWindowState(null, null);
            case SLIDING_LIST, SLIDING_ZSET -> new SlidingLogState(null, null, null);
            case TOKEN_BUCKET -> new TokenBucketState(null, null);
        };
    }

    /** The shared state of a key, or null when no key has used it yet. */
    @Nullable
    State overflowIfUsed(PartitionKey key) {
        return overflow.get(overflowIndex(key));
    }

    /** The shared state of a key. It is never dropped. */
    State overflow(PartitionKey key) {
        int index = overflowIndex(key);
        State state = overflow.get(index);
        if (state == null) {
            overflow.compareAndSet(index, null, blank());
            state = overflow.get(index);
        }
        return Objects.requireNonNull(state, "once set, an overflow state stays");
    }

    private static int overflowIndex(PartitionKey key) {
        int hash = key.hashCode() * 0x9E3779B9;
        return hash >>> 22 & OVERFLOW_STATES - 1;
    }
}
