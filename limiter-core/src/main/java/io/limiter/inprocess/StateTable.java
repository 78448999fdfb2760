package io.limiter.inprocess;

import io.limiter.Charge;
import io.limiter.DiagnosticLog;
import io.limiter.Limit;
import io.limiter.Throttle;
import io.limiter.TimeSource;
import java.util.Comparator;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * All states, bounded in their number and in the timestamps that logs hold, with a guaranteed part for each announced
 * policy. A state that is back to full may be dropped, which loses nothing; a used one never is. When nothing may be
 * dropped, a new key gets one of the shared states of its limit, and stays there until that state is full again, so that no
 * key ever has both.
 *
 * <p>The states wait in a queue by the time at which they may be full. The table is locked only when a key is new, or has a
 * shared state, and from then until the call is decided; states are locked after it, never before.
 */
final class StateTable {
    private static final Logger LOG = DiagnosticLog.of(StateTable.class);
    /** How many states a newcomer looks at to drop them: while there is room, and when there is none. */
    private static final int LOOKS = 8;

    private static final int LOOKS_WHEN_FULL = 64;
    private static final long SWEEP_EVERY_MICROS = 100_000;

    private final ConcurrentHashMap<LimitStates.Name, LimitStates<State>> limits = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<LimitStates.Name, Overflow> overflows = new ConcurrentHashMap<>();
    /** Of the limits that have none of their own, because too many have. */
    private final Overflow overflowOfOthers = new Overflow(true);
    /** Which call that may create states is or was the last. */
    private volatile long creation;

    private final ConcurrentHashMap<String, MemoryShare> shares = new ConcurrentHashMap<>();
    private final MemoryShare restShare;
    private final Capacity entries;
    private final Capacity stamps;
    private final Capacity sharedStamps;
    private final PriorityQueue<State> queue = new PriorityQueue<>(Comparator.comparingLong(s -> s.dueMicros));
    private final LongAdder overflowed = new LongAdder();
    private final Throttle warnings = new Throttle(TimeSource.system(), 60_000_000);
    /** When the shared states may be swept again. */
    private long nextSweep = Long.MIN_VALUE;

    StateTable(int maxEntries, long maxStamps) {
        this.entries = new Capacity(maxEntries);
        this.stamps = new Capacity(maxStamps);
        this.sharedStamps = new Capacity(maxStamps);
        this.restShare = newShare("policies made at run time");
        restShare.guarantee(true);
    }

    private MemoryShare newShare(String owner) {
        return new MemoryShare(owner, entries.new Share(), stamps.new Share(), sharedStamps.new Share());
    }

    /** Gives a policy a part of its own. */
    synchronized void announce(String policy) {
        shares.computeIfAbsent(policy, name -> newShare("policy '" + name + "'"))
                .guarantee(true);
    }

    /** Takes that part away: what the policy still holds is lent. */
    synchronized void retract(String policy) {
        MemoryShare share = shares.get(policy);
        if (share != null) {
            share.guarantee(false);
        }
        shares.values().removeIf(MemoryShare::isUnused);
    }

    int entries() {
        return Math.toIntExact(entries.used());
    }

    long stamps() {
        return stamps.used();
    }

    long overflowed() {
        return overflowed.sum();
    }

    /** How many limits have states. */
    int limits() {
        return limits.size();
    }

    /** How many limits have states that keys share. */
    int overflows() {
        return overflows.size();
    }

    /** Begins a call that may create states; to be called under the lock of this table. */
    synchronized void beginCreation() {
        creation++;
    }

    /** The state of a key that has one of its own, or null. */
    @Nullable
    State find(Charge charge, Limit limit) {
        LimitStates<State> states = limits.get(LimitStates.Name.of(charge, limit));
        return states == null ? null : states.byKey().get(charge.key());
    }

    /** The shared state that counts what a key may have used, or null. */
    @Nullable
    State findShared(Charge charge, Limit limit, long now) {
        LimitStates.Name name = LimitStates.Name.of(charge, limit);
        Overflow own = overflows.get(name);
        State state = own == null ? null : own.inUse(name, charge.key(), now, creation);
        return state != null ? state : overflowOfOthers.inUse(name, charge.key(), now, creation);
    }

    /**
     * The state to decide for a key that has none of its own: a new one, which is not in the table until {@link #keep}, or
     * one that keys share. To be called, and the call to be decided, under the lock of this table.
     */
    State create(Charge charge, Limit limit, long now) {
        LimitStates<State> states = states(charge, limit);
        MemoryShare share = states.share();
        State shared = findShared(charge, limit, now);
        if (shared != null) {
            return shared;
        }
        State made = States.of(limit.algorithm(), charge.key(), share.stamps());
        made.table = states;
        long room = made.firstStamps(charge.permits(), limit);
        boolean full = !hasRoom(share, room);
        if (full || entries.isHalfSpent() || stamps.isHalfSpent()) {
            drop(now, full ? LOOKS_WHEN_FULL : LOOKS);
        }
        if (hasRoom(share, room) && share.entries().take(1)) {
            return made;
        }
        return overflow(states.name(), now).enter(states.name(), charge.key(), share.sharedStamps(), now, creation);
    }

    /** Counts a call that a shared state decided. */
    void countShared(Charge charge, Limit limit) {
        overflowed.increment();
        if (warnings.tryPass()) {
            LOG.warn(
                    "RL-401 no room for new keys of {}: {} states and {} timestamps are in use by all policies. New keys"
                            + " share states and may be denied early. Raise limiter.in-process.max-entries or max-stamps, or look"
                            + " for a client that sends many keys. Calls decided this way so far: {}; logged once a minute",
                    states(charge, limit).share().owner(),
                    entries(),
                    stamps(),
                    overflowed.sum());
        }
    }

    private static boolean hasRoom(MemoryShare share, long stamps) {
        return share.entries().hasLeft(1) && share.stamps().hasLeft(stamps);
    }

    /** Puts a new state into the table. */
    void keep(State made, Limit limit, long now) {
        LimitStates<State> own = Objects.requireNonNull(made.table);
        LimitStates<State> states = limits.computeIfAbsent(own.name(), name -> own);
        if (states != own) {
            // Several new keys in one call, or a limit that lost its last state meanwhile.
            own.share().entries().change(-1);
            states.share().entries().change(1);
            made.table = states;
        }
        // The earliest time at which a charge of now can be back to full.
        made.dueMicros = now + Math.max(1, limit.periodMicros() / Math.max(1, limit.permits()));
        queue.add(made);
        states.byKey().put(Objects.requireNonNull(made.key), made);
    }

    /** Gives back the place of a new state that took nothing. */
    void discard(State made) {
        Objects.requireNonNull(made.table).share().entries().change(-1);
    }

    /** Drops what it can to make room for more stamps. */
    synchronized void reclaim(long now) {
        drop(now, LOOKS_WHEN_FULL);
        sweep(now);
    }

    /** Forgets shared states that are full, and the limits that have no other. */
    private void sweep(long now) {
        if (now >= nextSweep) {
            nextSweep = now + SWEEP_EVERY_MICROS;
            overflows.values().removeIf(overflow -> overflow.sweep(now, creation));
            overflowOfOthers.sweep(now, creation);
        }
    }

    /** Those of a limit, in the table or not yet. */
    private LimitStates<State> states(Charge charge, Limit limit) {
        LimitStates.Name name = LimitStates.Name.of(charge, limit);
        LimitStates<State> present = limits.get(name);
        MemoryShare share = shares.getOrDefault(name.policy(), restShare);
        return present != null ? present : new LimitStates<>(name, share, new ConcurrentHashMap<>());
    }

    private Overflow overflow(LimitStates.Name name, long now) {
        if (!overflows.containsKey(name) && overflows.size() >= Overflow.LIMITS) {
            sweep(now);
        }
        return overflows.size() < Overflow.LIMITS
                ? overflows.computeIfAbsent(name, any -> new Overflow(false))
                : overflows.getOrDefault(name, overflowOfOthers);
    }

    /** Drops what is back to full, as far as so many looks go. */
    private void drop(long now, int looks) {
        State due = queue.peek();
        for (int i = 0; i < looks && due != null && due.dueMicros <= now; i++) {
            queue.remove();
            if (!dropIfFull(due, now)) {
                queue.add(due);
            }
            due = queue.peek();
        }
    }

    /** Drops a state that is not in the queue; or sets when to look at it again. */
    private boolean dropIfFull(State state, long now) {
        LimitStates<State> states = Objects.requireNonNull(state.table);
        synchronized (state) {
            if (state.fullAtMicros() > now) {
                state.dueMicros = state.fullAtMicros();
                return false;
            }
            // Out of the map first: a call that finds it dropped must not find it again.
            states.byKey().remove(Objects.requireNonNull(state.key), state);
            state.clear();
            state.isDropped = true;
        }
        states.share().entries().change(-1);
        if (states.byKey().isEmpty()) {
            limits.remove(states.name(), states);
        }
        return true;
    }
}
