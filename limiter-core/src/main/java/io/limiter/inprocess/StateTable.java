package io.limiter.inprocess;

import io.limiter.DiagnosticLog;
import io.limiter.TimeSource;
import java.util.Comparator;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * All states, bounded in their number and in the timestamps that logs hold, with a guaranteed part for each announced
 * policy. A state that is back to full may be dropped, which loses nothing; a used one never is. When nothing may be
 * dropped, a new key gets one of the shared states of its limit, and stays there until that state is full again, so that no
 * key ever has both.
 *
 * <p>The states wait in a queue by the time at which they may be full; the queue is locked only when a key is new.
 */
final class StateTable {
    private static final Logger LOG = DiagnosticLog.of(InProcessBackend.class);
    private static final long WARN_EVERY_MICROS = 60_000_000;
    /** How many states a newcomer looks at to drop them: while there is room, and when there is none. */
    private static final int LOOKS = 8;

    private static final int LOOKS_WHEN_FULL = 64;
    private static final long SWEEP_EVERY_MICROS = 100_000;

    private final ConcurrentHashMap<Room.Name, Room> rooms = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Room.Name, Overflow> overflows = new ConcurrentHashMap<>();
    /** Of the limits that have none of their own, because too many have. */
    private final Overflow overflowOfOthers = new Overflow(true);

    private final ConcurrentHashMap<String, Part> parts = new ConcurrentHashMap<>();
    private final Part rest;
    private final Capacity entries;
    private final Capacity stamps;
    private final Capacity sharedStamps;
    private final ReentrantLock queueLock = new ReentrantLock();
    private final PriorityQueue<State> queue = new PriorityQueue<>(Comparator.comparingLong(s -> s.dueMicros));
    private final LongAdder overflowed = new LongAdder();
    private final AtomicLong nextWarning = new AtomicLong(Long.MIN_VALUE);
    /** When the shared states may be swept again. Guarded by the queue's lock. */
    private long nextSweep = Long.MIN_VALUE;

    StateTable(int maxEntries, long maxStamps) {
        this.entries = new Capacity(maxEntries);
        this.stamps = new Capacity(maxStamps);
        this.sharedStamps = new Capacity(maxStamps);
        this.rest = new Part("policies made at run time", entries, stamps, sharedStamps);
    }

    /** Gives a policy a part of its own. */
    void announce(String policy) {
        parts.computeIfAbsent(policy, name -> new Part("policy '" + name + "'", entries, stamps, sharedStamps));
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
    int rooms() {
        return rooms.size();
    }

    /** How many limits have states that keys share. */
    int overflows() {
        return overflows.size();
    }

    /**
     * The state that decides an ask: the key's own, a new one, or one in its place. The ask
     * leaves a shared one when it is decided.
     */
    State find(Ask ask, boolean create) {
        ask.leave();
        State own = own(ask);
        ask.missing = own == null;
        if (own != null) {
            return own;
        }
        return create ? create(ask) : standIn(ask);
    }

    /** The state of an ask's key that has one of its own, or null. */
    @Nullable
    State own(Ask ask) {
        Room room = rooms.get(Room.Name.of(ask));
        return room == null ? null : room.states.get(ask.charge.key());
    }

    /** The shared state of an ask's key, or null. */
    @Nullable
    State shared(Ask ask) {
        Overflow own = overflows.get(Room.Name.of(ask));
        State state = own == null ? null : own.find(ask);
        return state != null ? state : overflowOfOthers.find(ask);
    }

    /** Drops what it can to make room for more stamps. */
    void reclaim(long now) {
        queueLock.lock();
        try {
            drop(now, LOOKS_WHEN_FULL);
            if (now >= nextSweep) {
                nextSweep = now + SWEEP_EVERY_MICROS;
                sweep(now);
            }
        } finally {
            queueLock.unlock();
        }
    }

    /** Forgets shared states that are full, and the limits that have no other. Called under the lock. */
    private void sweep(long now) {
        overflows.values().removeIf(overflow -> overflow.sweep(now));
        overflowOfOthers.sweep(now);
    }

    /** Keeps a state that was made for a call of several limits, or drops it if the call took nothing after all. */
    void keepIfUsed(State state, boolean used, long now) {
        queueLock.lock();
        try {
            if (used || !dropIfFull(state, now)) {
                queue.add(state);
            }
        } finally {
            queueLock.unlock();
        }
    }

    /** The part of an ask's policy. A limit that has states keeps the part it began with, also when it is announced later. */
    private Part part(Ask ask) {
        Room room = rooms.get(Room.Name.of(ask));
        return room != null ? room.part : parts.getOrDefault(ask.charge.policy().name(), rest);
    }

    /** The overflow that counts what an ask's key has used, or null. */
    private @Nullable Overflow overflowInUse(Ask ask) {
        Overflow own = overflows.get(Room.Name.of(ask));
        if (own != null && own.isInUse(ask)) {
            return own;
        }
        return overflowOfOthers.isInUse(ask) ? overflowOfOthers : null;
    }

    /** A shared state that counts what the key may have used, or a blank one for a key that used nothing. */
    private State standIn(Ask ask) {
        Overflow overflow = overflowInUse(ask);
        State shared = overflow == null ? null : overflow.find(ask);
        return shared != null ? shared : State.of(ask.limit.algorithm(), null, null, null);
    }

    private State create(Ask ask) {
        queueLock.lock();
        try {
            State other = own(ask);
            if (other != null) {
                return other;
            }
            Overflow overflow = overflowInUse(ask);
            if (overflow != null) {
                return enter(overflow, ask);
            }
            if (entries.isHalfSpent() || stamps.isHalfSpent()) {
                drop(ask.now, LOOKS);
            }
            if (isFull(ask)) {
                drop(ask.now, LOOKS_WHEN_FULL);
            }
            State made = isFull(ask) ? null : newState(ask);
            return made != null ? made : enter(openOverflow(ask), ask);
        } finally {
            queueLock.unlock();
        }
    }

    private @Nullable State newState(Ask ask) {
        Part part = part(ask);
        if (!part.entries.take(1)) {
            return null;
        }
        Room room = rooms.computeIfAbsent(Room.Name.of(ask), name -> new Room(name, part));
        State state = room.newState(ask.charge.key());
        // The earliest time at which a charge of now can be back to full.
        state.dueMicros = ask.now + Math.max(1, ask.limit.periodMicros() / Math.max(1, ask.limit.permits()));
        if (!ask.together) {
            queue.add(state);
        }
        room.states.put(ask.charge.key(), state);
        ask.created = true;
        return state;
    }

    private boolean isFull(Ask ask) {
        Part part = part(ask);
        return !part.entries.hasLeft(1)
                || (ask.limit.algorithm().isLog() && !part.stamps.hasLeft(SlidingLogState.firstCapacity(ask)));
    }

    private Overflow openOverflow(Ask ask) {
        Overflow own = overflows.get(Room.Name.of(ask));
        if (own != null) {
            return own;
        }
        if (overflows.size() >= Overflow.LIMITS && ask.now >= nextSweep) {
            nextSweep = ask.now + SWEEP_EVERY_MICROS;
            sweep(ask.now);
        }
        return overflows.size() < Overflow.LIMITS
                ? overflows.computeIfAbsent(Room.Name.of(ask), name -> new Overflow(false))
                : overflowOfOthers;
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
        if (!state.hold()) {
            return true;
        }
        try {
            state.dueMicros = Math.max(state.fullAtMicros(), now + 1);
            if (state.fullAtMicros() > now) {
                return false;
            }
            Room room = Objects.requireNonNull(state.room);
            // Out of the map first: a call that finds it dropped must not find it again.
            room.states.remove(Objects.requireNonNull(state.key), state);
            state.drop();
            room.part.entries.give(1);
            if (room.states.isEmpty()) {
                rooms.remove(room.name, room);
            }
            return true;
        } finally {
            state.release();
        }
    }

    private State enter(Overflow overflow, Ask ask) {
        overflowed.increment();
        long now = TimeSource.system().nowMicros();
        long due = nextWarning.get();
        if (now >= due && nextWarning.compareAndSet(due, now + WARN_EVERY_MICROS)) {
            LOG.warn(
                    "RL-401 no room for new keys of {}: {} states and {} timestamps are in use by all policies. New keys"
                            + " share states and may be denied early. Raise limiter.in-process.max-entries or max-stamps, or look"
                            + " for a client that sends many keys. Calls decided this way so far: {}; logged once a minute",
                    part(ask).name,
                    entries(),
                    stamps(),
                    overflowed.sum());
        }
        return overflow.enter(ask, part(ask).sharedStamps);
    }
}
