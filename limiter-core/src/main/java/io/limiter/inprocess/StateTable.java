package io.limiter.inprocess;

import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.Policy;
import io.limiter.TimeSource;
import io.limiter.internal.Algorithm;
import io.limiter.internal.Throttle;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All states, bounded in their number and in the timestamps that logs hold, with a guaranteed part for each announced
 * policy. A state that is full again may be dropped, which loses nothing; a used one never is. When nothing may be
 * dropped, a new key gets one of the shared states of its limit, and stays there until that state is full again, so that no
 * key ever has both.
 *
 * <p>A state that keys share is in the same table, under a key that is no client's; these states have their own part of the memory.
 *
 * <p>The {@link StateMap} is locked only for a key that is new, or has a shared state, and from then until the call is
 * decided.
 */
final class StateTable {
    /** How many states the keys of one limit share at most. A power of two. */
    static final int SHARED_STATES = 1024;

    /** How many states are shared of all limits: those of 512 limits that are flooded. */
    static final int MOST_SHARED = 512 * SHARED_STATES;

    /** How many names of limits are kept, also without states: an application may make a policy for each call. */
    static final int MOST_NAMES = 1_000;

    private static final Logger LOG = LoggerFactory.getLogger(StateTable.class);
    /** How many states a new key checks to drop them while there is memory. */
    private static final int LOOKS = 8;

    /** How often it checks how many when there is none: nobody waits longer for the lock. */
    private static final int ROUNDS = 16;

    private static final int LOOKS_A_ROUND = 64;

    /** The keys of shared states. */
    private static final PartitionKey[] SHARED_KEYS = IntStream.range(0, SHARED_STATES)
            .mapToObj(Integer::toString)
            .map(PartitionKey::of)
            .toArray(PartitionKey[]::new);

    final StateMap states;
    final Map<LimitName, LimitName> names = new ConcurrentHashMap<>();
    private final Map<String, Capacity.Shares> shares = new ConcurrentHashMap<>();
    private final Capacity.Shares restShare;

    final Capacity entries;
    final Capacity stamps;
    /** The number of states that keys share. */
    final Capacity sharedEntries;

    private final Capacity sharedStamps;
    /** The calls that a shared state decided. */
    final LongAdder overflowed = new LongAdder();

    private final Throttle warnings = new Throttle(TimeSource.system()::nowMicros, 60_000_000);

    final WallClock clock;

    StateTable(int maxEntries, long maxStamps, int mostShared, TimeSource time) {
        this.clock = new WallClock(time);
        this.states = new StateMap(maxEntries);
        this.entries = new Capacity(maxEntries);
        this.stamps = new Capacity(maxStamps);
        this.sharedEntries = new Capacity(mostShared);
        this.sharedStamps = new Capacity(maxStamps);
        this.restShare = newShare("policies made at run time");
        restShare.guarantee(true);
    }

    private Capacity.Shares newShare(String owner) {
        Capacity.Shares shared = new Capacity.Shares(owner, sharedEntries.new Share(), sharedStamps.new Share(), null);
        return new Capacity.Shares(owner, entries.new Share(), stamps.new Share(), shared);
    }

    /** Gives a policy a guaranteed part. */
    synchronized void announce(String policy) {
        shares.computeIfAbsent(policy, name -> newShare("policy '" + name + "'"))
                .guarantee(true);
    }

    /** Removes that part: what the policy still holds is lent. */
    synchronized void retract(String policy) {
        Capacity.Shares share = shares.remove(policy);
        if (share != null) {
            share.guarantee(false);
        }
    }

    /** The memory of a limit's states. */
    private Capacity.Shares share(LimitName name) {
        Capacity.Shares share = shares.getOrDefault(name.policy(), restShare);
        return name.isShared() ? Objects.requireNonNull(share.shared()) : share;
    }

    /** The name of a limit, nearly always the same object: states are then found without comparing texts. */
    LimitName name(Policy policy, Limit limit) {
        LimitName name = LimitName.of(policy, limit);
        LimitName known = names.get(name);
        if (known == null && names.size() < MOST_NAMES) {
            known = names.putIfAbsent(name, name);
        }
        return known == null ? name : known;
    }

    /** The key of the shared state of a key. Depends on the limit too: keys that share one state rarely share another. */
    private static PartitionKey sharedKey(LimitName name, PartitionKey key) {
        // Clients can't guess it: the hash of a key is seeded.
        int mixed = (key.hashCode() ^ name.limit().hashCode()) * 0x9E3779B1;
        return SHARED_KEYS[mixed >>> 16 & SHARED_STATES - 1];
    }

    /** The state of a key that has one of its own, or null. */
    @Nullable
    State find(LimitName name, PartitionKey key) {
        return states.find(name, key, name.hash(key));
    }

    /** The shared state that counts permits of the key, or null. */
    @Nullable
    State findShared(LimitName name, PartitionKey key, TimeSource time) {
        State shared = sharedState(name, key);
        return shared != null && shared.isUsed(time.nowMicros()) ? shared : null;
    }

    private @Nullable State sharedState(LimitName name, PartitionKey key) {
        return sharedEntries.used() == 0 ? null : find(name.shared(), sharedKey(name, key));
    }

    /** Drops full states if a charge may need the memory. Must not be called under the lock. */
    void makeRoom(LimitName name, long stamps, long now) {
        if (!share(name).hasRoom(stamps)) {
            reclaim(now);
        } else if (entries.isHalfSpent() || this.stamps.isHalfSpent()) {
            states.drop(now, LOOKS);
        }
    }

    /**
     * The state that decides for a key without one, and without a shared one in use: a new one, with memory for so many permits
     * of the limit, which is not in the table until {@link #keep}, or one that keys share; one that denies all if even that has no
     * memory. Called under the lock of the states.
     */
    State create(LimitName name, PartitionKey key, long permits, Limit limit, long now) {
        State known = createOwn(name, key, firstStamps(permits, limit));
        known = known == null ? sharedState(name, key) : known;
        if (known != null) {
            return known;
        }
        State made = createOwn(name.shared(), sharedKey(name, key), 0);
        if (made == null) {
            return denyingLog(key);
        }
        // At once: another charge of this call may share it.
        keep(made, limit, now);
        return made;
    }

    /** A new state as {@link #create} makes it; null if the memory is used up. */
    @Nullable
    State createOwn(LimitName name, PartitionKey key, long stamps) {
        Capacity.Shares share = share(name);
        if (!share.hasRoom(stamps) || !share.entries().take(1)) {
            return null;
        }
        State made = made(name.algorithm(), key, share.stamps());
        made.name = name;
        made.share = share;
        return made;
    }

    /** A state of this limit that took nothing and must take nothing. */
    State unused(LimitName name, PartitionKey key) {
        return made(name.algorithm(), key, Capacity.UNLIMITED);
    }

    /** An empty log that can't grow: it denies all. */
    static State denyingLog(PartitionKey key) {
        return new SlidingLogState(key, Capacity.NONE);
    }

    /** A state that took nothing, of the class of the algorithm; with memory for timestamps and members from that share. */
    private State made(Algorithm algorithm, PartitionKey key, Capacity.Share memory) {
        return switch (algorithm) {
            case FIXED_WINDOW -> new FixedWindowState(key, clock);
            case SLIDING_LIST, SLIDING_ZSET -> new SlidingLogState(key, memory);
            case TOKEN_BUCKET -> new TokenBucketState(key);
            case DISTINCT -> new DistinctState(key, memory);
            case BLOCK -> new BlockState(key);
            case ALLOTMENT -> new AllotmentState(key, clock, memory);
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

    /** Counts a call that a shared state decided, or a reservation without memory for its record. */
    void countShared(LimitName name) {
        overflowed.increment();
        if (warnings.tryPass()) {
            LOG.warn(
                    "RL-401 no memory for new keys of {}: {} states and {} timestamps are in use by all policies. New keys"
                            + " share states and may be denied early. Raise limiter.in-process.max-entries or max-timestamps, or look"
                            + " for a client that sends many keys. Calls decided this way so far: {}; logged once a minute",
                    share(name).owner(),
                    entries.used(),
                    stamps.used(),
                    overflowed.sum());
        }
    }

    /** Puts a new state into the table. */
    void keep(State made, Limit limit, long now) {
        // The earliest time at which a state charged now can be full again: a stock is, that long after it closes.
        made.dueMicros = now + Math.max(1, Math.min(limit.periodMicros() / limit.permits(), Limit.KEPT_MICROS));
        states.add(made);
    }

    /** Drops full states to free memory for more timestamps. Must not be called under the lock. */
    void reclaim(long now) {
        for (int i = 0; i < ROUNDS; i++) {
            states.drop(now, LOOKS_A_ROUND);
        }
    }
}
