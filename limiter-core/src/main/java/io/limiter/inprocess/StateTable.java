package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.Limit;
import io.limiter.PartitionKey;
import io.limiter.TimeSource;
import io.limiter.internal.Throttle;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
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
 * <p>A {@link Partition} is locked only when a key of it is new, or has a shared state, and from then until the call is
 * decided. Two keys seldom have the same one.
 */
final class StateTable {
    private static final Logger LOG = LoggerFactory.getLogger(StateTable.class);
    /** How many states a new key checks to drop them: while there is memory, and in each partition when there is none. */
    private static final int LOOKS = 8;

    private static final int LOOKS_WHEN_FULL = 64;
    private static final long SWEEP_EVERY_MICROS = 100_000;

    final State[][] slots = new State[Partition.COUNT][Partition.FIRST_SLOTS];
    private final Partition[] partitions = IntStream.range(0, Partition.COUNT)
            .mapToObj(number -> new Partition(slots, number))
            .toArray(Partition[]::new);
    /** The limits that have states. */
    final ConcurrentHashMap<LimitStates.Name, LimitStates> limits = new ConcurrentHashMap<>();

    final Overflow overflow;

    private final ConcurrentHashMap<String, Capacity.Shares> shares = new ConcurrentHashMap<>();
    private final Capacity.Shares restShare;

    final Capacity entries;
    final Capacity stamps;
    private final Capacity sharedStamps;
    /** The calls that a shared state decided. */
    final LongAdder overflowed = new LongAdder();

    private final Throttle warnings = new Throttle(TimeSource.system()::nowMicros, 60_000_000);
    /** When the shared states may be swept again. */
    private final AtomicLong nextSweep = new AtomicLong(Long.MIN_VALUE);

    final WallClock clock;

    StateTable(int maxEntries, long maxStamps, TimeSource time) {
        this.clock = new WallClock(time);
        this.overflow = new Overflow(clock, Overflow.MOST_STATES);
        this.entries = new Capacity(maxEntries);
        this.stamps = new Capacity(maxStamps);
        this.sharedStamps = new Capacity(maxStamps);
        this.restShare = newShare("policies made at run time");
        restShare.guarantee(true);
    }

    private Capacity.Shares newShare(String owner) {
        return new Capacity.Shares(owner, entries.new Share(), stamps.new Share(), sharedStamps.new Share());
    }

    /** Gives a policy a guaranteed part. */
    synchronized void announce(String policy) {
        shares.computeIfAbsent(policy, name -> newShare("policy '" + name + "'"))
                .guarantee(true);
    }

    /** Removes that part: what the policy still holds is lent. */
    synchronized void retract(String policy) {
        Capacity.Shares share = shares.get(policy);
        if (share != null) {
            share.guarantee(false);
        }
        shares.values().removeIf(Capacity.Shares::isUnused);
    }

    private static int hash(String policy, PartitionKey key) {
        return LimitStates.hash(LimitStates.hash(policy), key);
    }

    private Partition partition(LimitStates.Name name, PartitionKey key) {
        return partitions[Partition.of(hash(name.policy(), key))];
    }

    /** Runs something that may create states for these charges, under the locks of their partitions. */
    <T> T creating(List<Charge> charges, Supplier<T> call) {
        int needed = 0;
        for (Charge charge : charges) {
            needed |= 1 << Partition.of(hash(charge.policy().name(), charge.key()));
        }
        return locked(needed, call);
    }

    /** @param which has a bit for each partition */
    private <T> T locked(int which, Supplier<T> call) {
        for (int rest = which; rest != 0; rest &= rest - 1) {
            partitions[Integer.numberOfTrailingZeros(rest)].lock.lock();
        }
        try {
            return call.get();
        } finally {
            for (int rest = which; rest != 0; rest &= rest - 1) {
                partitions[Integer.numberOfTrailingZeros(rest)].lock.unlock();
            }
        }
    }

    /** The state of a key that has one of its own, or null. */
    @Nullable
    State find(LimitStates.Name name, PartitionKey key) {
        LimitStates states = limits.get(name);
        if (states == null) {
            return null;
        }
        int hash = states.hash(key);
        return partitions[Partition.of(hash)].findSurely(states, key, hash);
    }

    /** The shared state that counts permits of the key, or null. */
    @Nullable
    State findShared(LimitStates.Name name, PartitionKey key, TimeSource time) {
        return overflow.inUse(name, key, time.nowMicros());
    }

    /** Drops full states if a charge may need the memory. Must not be called while creating. */
    void makeRoom(LimitStates.Name name, PartitionKey key, long stamps, long now) {
        if (overflow.isFull()) {
            sweep(now);
        }
        Capacity.Shares share = states(name).share;
        if (!hasRoom(share, stamps)) {
            for (int i = 0; i < Partition.COUNT && !hasRoom(share, stamps); i++) {
                partitions[i].drop(now, LOOKS_WHEN_FULL, this::dropped);
            }
        } else if (entries.isHalfSpent() || this.stamps.isHalfSpent()) {
            partition(name, key).drop(now, LOOKS, this::dropped);
        }
    }

    /**
     * The state that decides for a key without one: a new one, with memory for that number of timestamps, which is not
     * in the table until {@link #keep}, or one that keys share. Called while {@link #creating}.
     */
    State create(LimitStates.Name name, PartitionKey key, long stamps, TimeSource time) {
        State shared = findShared(name, key, time);
        if (shared != null) {
            return shared;
        }
        State own = createOwn(name, key, stamps);
        if (own != null) {
            return own;
        }
        return overflow.enter(name, key, states(name).share.sharedStamps(), time.nowMicros());
    }

    /** A new state as {@link #create} makes it, or null if the memory is used up. */
    @Nullable
    State createOwn(LimitStates.Name name, PartitionKey key, long stamps) {
        LimitStates states = states(name);
        Capacity.Shares share = states.share;
        if (!hasRoom(share, stamps) || !share.entries().take(1)) {
            return null;
        }
        State made = States.of(name.algorithm(), key, clock, share.stamps());
        made.limit = states;
        return made;
    }

    /** Counts a call that a shared state decided, or a reservation without memory for its record. */
    void countShared(LimitStates.Name name) {
        overflowed.increment();
        if (warnings.tryPass()) {
            LOG.warn(
                    "RL-401 no memory for new keys of {}: {} states and {} timestamps are in use by all policies. New keys"
                            + " share states and may be denied early. Raise limiter.in-process.max-entries or max-timestamps, or look"
                            + " for a client that sends many keys. Calls decided this way so far: {}; logged once a minute",
                    states(name).share.owner(),
                    entries.used(),
                    stamps.used(),
                    overflowed.sum());
        }
    }

    private static boolean hasRoom(Capacity.Shares share, long stamps) {
        return share.entries().hasLeft(1) && share.stamps().hasLeft(stamps);
    }

    /** Puts a new state into the table. */
    void keep(State made, Limit limit, long now) {
        LimitStates own = Objects.requireNonNull(made.limit);
        LimitStates states = limits.computeIfAbsent(own.name, name -> own);
        while (!states.enter()) {
            limits.remove(own.name, states);
            states = limits.computeIfAbsent(own.name, name -> new LimitStates(name, own.share));
        }
        if (states != own) {
            // Several new keys in one call, or a limit that lost its last state since.
            own.share.entries().change(-1);
            states.share.entries().change(1);
            made.limit = states;
        }
        // The earliest time at which a state charged now can be full again.
        made.dueMicros = now + Math.max(1, limit.periodMicros() / Math.max(1, limit.permits()));
        partition(own.name, Objects.requireNonNull(made.key)).add(made);
    }

    /** Returns the memory of a new state that took nothing. */
    void discard(State made) {
        Objects.requireNonNull(made.limit).share.entries().change(-1);
    }

    /** Drops full states to free memory for more timestamps. Must not be called while creating. */
    void reclaim(long now) {
        for (Partition partition : partitions) {
            partition.drop(now, LOOKS_WHEN_FULL, this::dropped);
        }
        sweep(now);
    }

    /** Removes shared states that are full. No call creates states at the same time. */
    private void sweep(long now) {
        long next = nextSweep.get();
        if (now < next || !nextSweep.compareAndSet(next, now + SWEEP_EVERY_MICROS)) {
            return;
        }
        locked((1 << Partition.COUNT) - 1, () -> {
            overflow.sweep(now);
            return now;
        });
    }

    /** A limit, in the table or not yet. */
    private LimitStates states(LimitStates.Name name) {
        LimitStates present = limits.get(name);
        if (present != null) {
            return present;
        }
        Capacity.Shares own = shares.get(name.policy());
        // One with a retracted policy only waits until its units are returned.
        return new LimitStates(name, own != null && own.entries().isGuaranteed() ? own : restShare);
    }

    private void dropped(State state) {
        LimitStates states = Objects.requireNonNull(state.limit);
        states.share.entries().change(-1);
        if (states.leave()) {
            limits.remove(states.name, states);
        }
    }
}
